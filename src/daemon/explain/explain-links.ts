import { countOf, countText } from '../../lib/count-text.ts';
import { easternText } from '../../lib/time-text.ts';
import { warningsOf } from '../../state/runs/runs.ts';
import type { OutboxRow, RunRow, SkipRow } from '../../state/tables.ts';
import type { Silence } from '../report/overview.ts';

/**
 * A link in the chain of causes. The chain starts at the dashboard and goes back in time. All instants are in epoch
 * milliseconds.
 */
export interface Link {
  readonly at?: number;
  readonly message: string;
  readonly code?: string;
}

/** The explanation of an instance's current data. */
export interface Explanation {
  readonly job: string;
  readonly instance?: string;
  /**
   * The as-of time of the last data that the instance is known to show. Absent if this state never delivered data to
   * the instance.
   */
  readonly shows_as_of?: number;
  /** True if a later request got no response, so that the instance may show newer data. */
  readonly in_doubt?: true;
  /** A short verdict, such as `up to date` or `waiting for the quota`. */
  readonly verdict: string;
  /** The chain of causes, from the newest fact to the oldest. */
  readonly because: readonly Link[];
  /** What will happen next automatically, and when. */
  readonly next?: Link;
  /** What the user can do about the problem: a sentence or a command. */
  readonly fix?: string;
}

/** Explains why a payload hasn't been delivered. */
export function troubleOf({ last_attempt_at, owed_at, message, code }: OutboxRow, what: string): Link {
  return {
    at: last_attempt_at ?? owed_at,
    message: message === null ? what : `${what}: ${message}`,
    ...(code === null ? {} : { code }),
  };
}

/** Says that a payload is waiting to be sent. */
export const owedAt = ({ owed_at }: OutboxRow): Link => ({
  at: owed_at,
  message: 'the payload is on disk, waiting to be sent; no data is lost',
});

/** Says which run a payload came from. */
export const extracted = ({ as_of, run, row_count }: OutboxRow): Link => ({
  at: as_of,
  message: `run ${run} read ${countOf(row_count, 'row')} from the source`,
});

const words: Readonly<Record<RunRow['state'], string>> = {
  running: 'is in progress',
  retrying: 'is being retried',
  owed: 'finished; its payload is waiting to be sent',
  delivered: 'was delivered',
  unchanged: 'produced what the instance already shows',
  superseded: 'was superseded by newer data',
  refreshed: 'started the refresh',
  dead: 'ended with a payload that the service rejected',
  quarantined: 'ended with a payload that a guard quarantined',
  discarded: 'ended with a payload that a person discarded',
  failed: 'failed',
  interrupted: 'was interrupted',
};

/** Marks runs of dead processes as interrupted, even if no later start has recorded the interruption yet. */
export function currentLinks(
  runs: readonly RunRow[],
  { runningSince }: { runningSince(job: string): number | undefined },
): readonly RunRow[] {
  const problem = { code: 'RUN_INTERRUPTED', message: 'The process ended during the run' };
  return runs.map((run) =>
    run.state === 'running' && runningSince(run.job) === undefined ? { ...run, state: 'interrupted', ...problem } : run,
  );
}

/**
 * Describes how a run ended. Leaves out the row count for an unchanged source, which returned no rows although the
 * instance shows some.
 */
export function ended({ id, state, started_at, ended_at, message, code, row_count }: RunRow): Link {
  const isNone = row_count === 0 && (state === 'unchanged' || state === 'failed');
  const rows = row_count === null || isNone ? '' : ` (${countOf(row_count, 'row')})`;
  const why = message === null ? '' : `: ${message}`;
  return {
    at: ended_at ?? started_at,
    message: `run ${id} ${words[state]}${rows}${why}`,
    ...(code === null ? {} : { code }),
  };
}

export const warningLinks = (run: RunRow): Link[] =>
  warningsOf(run).map(({ code, message, seen }) => ({
    at: run.ended_at ?? run.started_at,
    message: `warning: ${message}${seen === undefined ? '' : ` (${seen})`}`,
    code,
  }));

/** Skipped firings. */
export function skippedFiring({ first_at: at, firings, reason }: SkipRow): Link {
  const many = firings === 1 ? 'a scheduled run was' : `${countText(firings)} scheduled runs since then were`;
  return { at, message: `${many} skipped: ${reason}` };
}

/** Returns the last check of the job's source, if that check failed. */
export function checkedAt(silence: Silence | undefined): Link[] {
  if (silence === undefined) return [];
  const { at, code, message } = silence;
  return [{ at, message: `a check of the job's source failed: ${message}`, code }];
}

/** Explains why the payload hasn't been sent yet. */
export function hinderedBy({ code, attempts }: OutboxRow): string {
  if (code === 'QUOTA_SPENT') return 'it is not sent';
  // While the destination is unreachable, attempts don't use requests and aren't counted.
  return attempts === 0 ? 'the last attempt failed' : `attempt ${attempts} failed`;
}

/**
 * Returns what the payload is waiting for. If the daily allowance is used up, `spent` is the time when requests are
 * available again.
 */
export function waitText({ code }: OutboxRow, { spent, now }: { spent: number | undefined; now: number }): string {
  if (spent !== undefined) return `waiting for the daily allowance until ${easternText(spent, now)}`;
  return code === null || code === 'QUOTA_SPENT' ? 'waiting to be sent' : 'waiting for a retry';
}
