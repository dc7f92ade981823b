import type { Job } from '../../config/config.ts';
import { easternText, instantText } from '../../lib/time-text.ts';
import type { Store } from '../../state/store.ts';
import type { OutboxRow, RunRow, ThrottledJobRow } from '../../state/tables.ts';
import type { NextAttempt } from '../retry/next-attempt.ts';
import type { Overview, Silence } from './overview.ts';

/** The part of a job's state that doesn't depend on its config. All times are in epoch milliseconds. */
export interface StoredJobStatus {
  readonly job: string;
  /** One sentence that says what the job is doing or what it's waiting for. */
  readonly state: string;
  /** Set while the job is on hold. Either a user or Sluice may have put it on hold. */
  readonly on_hold?: true;
  readonly last_run?: {
    readonly run: string;
    readonly state: string;
    readonly started_at: number;
    readonly rows: number | null;
    readonly code: string | null;
    readonly message: string | null;
  };
  /** The earliest time at which owed payloads will be sent or the last run will be retried. */
  readonly waits_until?: number;
  /**
   * Set while the last run is being retried: when the retries began, the next attempt's number and time, and when the
   * retries will end.
   */
  readonly retrying?: { readonly since: number; readonly attempt: number; readonly at: number; readonly until: number };
  readonly owed: readonly {
    readonly bytes: number;
    readonly rows: number;
    readonly since: number;
    readonly attempts: number;
    readonly code: string | null;
    readonly message: string | null;
  }[];
}

/** A job's state. */
export interface JobStatus extends StoredJobStatus {
  readonly enabled: boolean;
  /** The as-of time of the data that the instance last received or was confirmed to show. */
  readonly last_delivered_at?: number;
  /** The time when the job will run next. Absent if the job doesn't run automatically. */
  readonly next_run_at?: number;
  /**
   * Set while the job is throttled because the daily allowance is too small. If `every` is 0, the job doesn't run at
   * all.
   */
  readonly throttled?: {
    readonly every: number;
    readonly message: string;
    readonly since: number;
    readonly until: number;
  };
  /** Set if the last check of the job's source failed. The job's next run will probably fail too. */
  readonly silent_source?: Silence & { readonly source: string };
}

/** The data that a job's status is derived from. */
export interface JobStatusOptions {
  readonly overview: Overview;
  /** The jobs whose runs never finish. */
  readonly endless: ReadonlySet<string>;
  /** When the job's account will have requests again, if it has none and this time is known. */
  readonly quotaUntil?: number;
}

export function jobStatus(job: Job, given: JobStatusOptions): JobStatus {
  const { overview } = given;
  const throttle = overview.throttle(job.name);
  const silence = overview.silence(job);
  return {
    ...storedJobStatus(job.name, { ...given, quotaUntil: overview.quotaUntil(job) }),
    enabled: job.enabled,
    last_delivered_at: overview.publishedAsOf(job),
    next_run_at: overview.nextRun(job),
    throttled: throttle === undefined ? undefined : throttleOf(throttle),
    silent_source: silence === undefined ? undefined : { source: job.extract?.source.name ?? '', ...silence },
  };
}

export function storedJobStatus(job: string, given: JobStatusOptions): StoredJobStatus {
  const { overview } = given;
  const owed = overview.waitingOf(job).filter(({ state }) => state === 'owed');
  const last = overview.lastRun(job);
  const attempt = overview.nextAttempt(job);
  const { state, until } = stateOf(job, owed, given);
  return {
    job,
    state,
    ...(overview.hold(job) === undefined ? {} : { on_hold: true }),
    last_run: last === undefined ? undefined : runOf(last),
    waits_until: until,
    retrying: attempt === undefined ? undefined : retryOf(attempt),
    owed: owed.map(({ bytes, row_count, owed_at, attempts, code, message }) => ({
      bytes,
      rows: row_count,
      since: owed_at,
      attempts,
      code,
      message,
    })),
  };
}

function runOf({ id, state, started_at, row_count, code, message }: RunRow): NonNullable<JobStatus['last_run']> {
  return { run: id, state, started_at, rows: row_count, code, message };
}

function retryOf({ since, attempt, at, until }: NextAttempt): NonNullable<JobStatus['retrying']> {
  return { since, attempt, at, until };
}

function throttleOf({ every, message, since, until }: ThrottledJobRow): NonNullable<JobStatus['throttled']> {
  return { every, message, since, until };
}

/** Says what a job waits for and, if known, when the wait ends. */
function stateOf(
  job: string,
  owed: readonly OutboxRow[],
  { overview, endless, quotaUntil }: JobStatusOptions,
): { state: string; until?: number } {
  const [waiting] = owed;
  const last = overview.lastRun(job);
  const hold = overview.hold(job);
  if (overview.runningSince(job) !== undefined) {
    return { state: endless.has(job) ? 'running, but runs never finish' : 'running' };
  }
  const attempt = overview.nextAttempt(job);
  if (attempt !== undefined) return { state: attempt.message, until: attempt.at };
  if (waiting !== undefined) return waitOf(waiting, overview.now, quotaUntil);
  if (hold !== undefined) return { state: `put on hold by ${hold.who}${hold.why === '' ? '' : `: ${hold.why}`}` };
  if (last === undefined) return { state: 'never ran' };
  return { state: last.state === 'running' ? 'interrupted' : last.state };
}

function waitOf(
  { code, next_attempt_at }: OutboxRow,
  now: number,
  quotaUntil: number | undefined,
): { state: string; until?: number } {
  if (code === 'QUOTA_SPENT' && quotaUntil !== undefined)
    return { state: `waiting for the daily allowance until ${easternText(quotaUntil, now)}`, until: quotaUntil };
  if (code === 'LOGIN_NEEDED') return { state: 'owed, credentials refused' };
  if (next_attempt_at === null || next_attempt_at <= now) return { state: 'owed' };
  return { state: `owed, next attempt ${instantText(next_attempt_at)}`, until: next_attempt_at };
}

/** Finds jobs whose runs never finish because newer firings keep replacing them. */
export async function endlessJobs(store: Store | undefined): Promise<ReadonlySet<string>> {
  const streaks = (await store?.runs.streaks()) ?? [];
  return new Set(streaks.flatMap(({ job, last }) => (last.code === 'RUN_CANCELLED' ? [job] : [])));
}
