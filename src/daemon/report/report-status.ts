import type { AlertChannel } from '../../config/alerts.ts';
import type { Config, Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { easternText, instantText } from '../../lib/time-text.ts';
import { loginCommand } from '../../oauth/login-problems.ts';
import { needsPerson, reportLogins } from '../../oauth/report.ts';
import { unwritableText } from '../../state/engine/state-problem.ts';
import { processText } from '../../state/processes/processes.ts';
import type { Store } from '../../state/store.ts';
import type { OutboxRow, RunRow, ThrottledJobRow } from '../../state/tables.ts';
import type { Condition } from '../conditions/condition.ts';
import { ConditionCache, readConditions } from '../conditions/read-conditions.ts';
import { type ActiveRecord, readRecord } from '../config/config-record.ts';
import type { NextAttempt } from '../retry/next-attempt.ts';
import { type Overview, readOverview, type Silence } from './overview.ts';
import type { AccountStatus } from './report-accounts.ts';
import type { DiskStatus } from './report-disk.ts';

/** A job's state. All times are in epoch milliseconds. */
export interface JobStatus {
  readonly job: string;
  readonly enabled: boolean;
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
  /** The as-of time of the data that the instance last received or was confirmed to show. */
  readonly last_delivered_at?: number;
  /** The time when the job will run next. Absent if the job doesn't run automatically. */
  readonly next_run_at?: number;
  /** The earliest time at which owed payloads will be sent or the last run will be retried. */
  readonly waits_until?: number;
  /**
   * Set while the last run is being retried: when the retries began, the next attempt's number and time, and when the
   * retries will end.
   */
  readonly retrying?: { readonly since: number; readonly attempt: number; readonly at: number; readonly until: number };
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
  readonly owed: readonly {
    readonly bytes: number;
    readonly rows: number;
    readonly since: number;
    readonly attempts: number;
    readonly code: string | null;
    readonly message: string | null;
  }[];
}

/**
 * Payloads owed by jobs that aren't in the config. `deliverable` is true if the payloads' destination is still in the
 * config.
 */
export interface StrandedStatus {
  readonly job: string;
  readonly destination: string;
  readonly deliverable: boolean;
  readonly payloads: number;
}

/** A login that a user must renew, with the command that renews it. */
export interface NeedyLogin {
  readonly login: string;
  readonly sources: readonly string[];
  readonly message?: string;
  readonly next: string;
}

/** An alert channel whose last attempt to send a message failed. */
interface FailingChannel {
  readonly channel: string;
  readonly type: AlertChannel['type'];
  readonly problem: string;
  /** Number of messages that are waiting to be sent to the channel. Failed heartbeats don't count. */
  readonly waiting: number;
}

export interface Status {
  /** All current conditions, errors first. May be empty. Every user interface shows these conditions. */
  readonly conditions: readonly Condition[];
  /** The running daemon. `stopped` describes the problem with its schedules if no jobs fire. */
  readonly daemon?: {
    readonly owner: string;
    readonly since: number;
    readonly stopped?: string;
    /** The daemon's active config, if this status describes that config. */
    readonly config?: ActiveRecord;
  };
  readonly jobs: readonly JobStatus[];
  /** Names of jobs that were excluded because of config errors. `jobs` doesn't contain them. */
  readonly left_out: readonly string[];
  readonly stranded: readonly StrandedStatus[];
  readonly accounts: readonly AccountStatus[];
  readonly logins: readonly NeedyLogin[];
  /** How full the state folder is. */
  readonly disk?: DiskStatus;
  /** The reason why the state isn't writable, and how to fix it. Absent if the state is writable. */
  readonly unwritable?: { readonly code: string; readonly message: string };
  /** Open alerts and failing channels. Absent if the config has no alert settings. */
  readonly alerts?: {
    readonly open: number;
    readonly failing: readonly FailingChannel[];
  };
}

/**
 * Reads the status of all jobs from the store, if there is one, and checks whether the state is writable. Read-only.
 * Callers that have already read the overview pass it as `known`.
 */
export async function reportStatus(
  config: Config,
  store: Store | undefined,
  clock: Clock,
  known: { readonly overview?: Overview; readonly cache?: ConditionCache } = {},
): Promise<Status> {
  const overview = known.overview ?? (await readOverview(config, store, clock));
  const cache = known.cache ?? new ConditionCache();
  const conditions = await readConditions(config, store, { clock, overview, cache });
  const { daemon, accounts, waiting } = overview;
  const endless = await endlessJobs(store);
  const jobs = [...config.jobs.values()].map((job) => jobStatus(job, { overview, isEndless: endless.has(job.name) }));
  const owed = waiting.filter(({ state }) => state === 'owed');
  const logins = await needyLogins(config, store, clock);
  const disk = store === undefined ? undefined : await cache.disk.look(config, { store, clock });
  const unwritable = await store?.probe();
  return {
    conditions,
    ...(daemon === undefined || store === undefined
      ? {}
      : { daemon: daemonStatus(daemon, await takenOf(config, store, daemon.owner)) }),
    jobs,
    left_out: leftOutOf(conditions, config),
    stranded: strandedIn(owed, config),
    accounts,
    logins,
    disk,
    unwritable: unwritable === undefined ? undefined : { code: unwritable.code, message: unwritableText(unwritable) },
    ...(await alertStatus(config, store)),
  };
}

function leftOutOf(conditions: readonly Condition[], { jobs }: Config): string[] {
  return conditions
    .filter(({ kind }) => kind === 'left_out')
    .flatMap((one) => one.jobs.filter((job) => !jobs.has(job)));
}

async function takenOf({ file }: Config, store: Store, owner: string): Promise<ActiveRecord | undefined> {
  const taken = await readRecord(store, owner);
  return taken?.file === file ? taken : undefined;
}

function daemonStatus(
  { owner, takenAt, stopped }: NonNullable<Overview['daemon']>,
  config: NonNullable<Status['daemon']>['config'],
): NonNullable<Status['daemon']> {
  return {
    owner: processText(owner),
    since: takenAt,
    stopped,
    config,
  };
}

async function alertStatus({ alerts }: Config, store: Store | undefined): Promise<Pick<Status, 'alerts'>> {
  if (alerts === undefined) return {};
  const open = ((await store?.alerts.all()) ?? []).filter(({ cleared_at }) => cleared_at === null).length;
  const records = (await store?.alerts.channels()) ?? [];
  const failing = records.flatMap(({ channel, problem, waiting }) => {
    const type = alerts.channels.get(channel)?.type;
    return problem === undefined || type === undefined ? [] : [{ channel, type, problem, waiting }];
  });
  return { alerts: { open, failing } };
}

async function needyLogins({ sources }: Config, store: Store | undefined, clock: Clock): Promise<NeedyLogin[]> {
  const reports = await reportLogins(sources.values(), store, clock.now());
  return reports.filter(needsPerson).map(({ login, sources, state, expires_at, message }) => {
    const next = loginCommand(sources[0] ?? login);
    const ends = state === 'ends soon' ? `the token expires at ${instantText(expires_at!)}` : undefined;
    const why = message ?? ends;
    return { login, sources, next, message: why };
  });
}

function strandedIn(owed: readonly OutboxRow[], { jobs, destinations }: Config): StrandedStatus[] {
  const orphans = owed.filter(({ job, destination }) => !jobs.has(job) || !destinations.has(destination));
  return [...Map.groupBy(orphans, ({ job, destination }) => JSON.stringify([job, destination])).values()].map(
    (rows) => {
      const { job, destination } = rows[0] as OutboxRow;
      return { job, destination, deliverable: destinations.has(destination), payloads: rows.length };
    },
  );
}

/** Finds jobs whose runs never finish because newer firings keep replacing them. */
async function endlessJobs(store: Store | undefined): Promise<ReadonlySet<string>> {
  const streaks = (await store?.runs.streaks()) ?? [];
  return new Set(streaks.flatMap(({ job, last }) => (last.code === 'RUN_CANCELLED' ? [job] : [])));
}

function jobStatus(job: Job, { overview, isEndless }: { overview: Overview; isEndless: boolean }): JobStatus {
  const owed = overview.waitingOf(job.name).filter(({ state }) => state === 'owed');
  const last = overview.lastRun(job.name);
  const shown = overview.publishedAsOf(job);
  const next = overview.nextRun(job);
  const throttle = overview.throttle(job.name);
  const silence = overview.silence(job);
  const attempt = overview.nextAttempt(job.name);
  const { state, until } = stateOf(job, owed, overview);
  return {
    job: job.name,
    enabled: job.enabled,
    state: isEndless && state === 'running' ? 'running, but runs never finish' : state,
    ...(overview.hold(job.name) === undefined ? {} : { on_hold: true }),
    last_run: last === undefined ? undefined : runOf(last),
    last_delivered_at: shown,
    next_run_at: next,
    waits_until: until,
    retrying: attempt === undefined ? undefined : retryOf(attempt),
    throttled: throttle === undefined ? undefined : throttleOf(throttle),
    silent_source: silence === undefined ? undefined : { source: job.extract?.source.name ?? '', ...silence },
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

function throttleOf({ every, says, since, until }: ThrottledJobRow): NonNullable<JobStatus['throttled']> {
  return { every, message: says, since, until };
}

/** Says what a job waits for and, if known, when the wait ends. */
function stateOf(job: Job, owed: readonly OutboxRow[], overview: Overview): { state: string; until?: number } {
  const [waiting] = owed;
  const last = overview.lastRun(job.name);
  const hold = overview.hold(job.name);
  if (overview.runningSince(job.name) !== undefined) return { state: 'running' };
  const attempt = overview.nextAttempt(job.name);
  if (attempt !== undefined) return { state: attempt.message, until: attempt.at };
  if (waiting !== undefined) return waitOf(waiting, job, overview);
  if (hold !== undefined) return { state: `put on hold by ${hold.who}${hold.why === '' ? '' : `: ${hold.why}`}` };
  if (last === undefined) return { state: 'never ran' };
  return { state: last.state === 'running' ? 'interrupted' : last.state };
}

function waitOf({ code, next_attempt_at }: OutboxRow, job: Job, overview: Overview): { state: string; until?: number } {
  const { now } = overview;
  const quota = code === 'QUOTA_SPENT' ? overview.quotaUntil(job) : undefined;
  if (quota !== undefined)
    return { state: `waiting for the daily allowance until ${easternText(quota, now)}`, until: quota };
  if (code === 'LOGIN_NEEDED') return { state: 'owed, credentials refused' };
  if (next_attempt_at === null || next_attempt_at <= now) return { state: 'owed' };
  return { state: `owed, next attempt ${instantText(next_attempt_at)}`, until: next_attempt_at };
}
