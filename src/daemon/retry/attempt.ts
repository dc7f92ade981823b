import type { Job } from '../../config/config.ts';
import type { Problem } from '../../lib/problem.ts';
import type { RetryRow } from '../../state/tables.ts';
import { decideRetry } from './decide-retry.ts';
import { HandedOn } from './handed-on.ts';

/** What follows a failed attempt: another attempt, or the end of the run, with a reason if it's worth reporting. */
export type Follow = { readonly row: RetryRow } | { readonly row?: undefined; readonly why?: string };

/** One attempt of a run. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  readonly run?: string;
  /** Whether the retry is stored, so that any process can continue it. */
  readonly isKept: boolean;
  /** The facts that the previous attempt passed on, and those that this attempt passes to the next one. */
  readonly handedOn: HandedOn;
  /** Decides what follows after this attempt of `run` failed with `problem`. */
  after(run: string, problem: Problem): Follow;
}

export interface AttemptOptions {
  readonly job: Job;
  /** The retry row that the previous attempt wrote; absent for the first attempt. */
  readonly row?: RetryRow | undefined;
  readonly now: () => number;
  readonly firedAt: number;
  readonly logicalAt?: number | undefined;
  readonly isKept: boolean;
  /**
   * Returns the job's next firing after its first attempt began at `since`. No attempt begins at or after that firing.
   * Null or absent: no firing limits the attempts.
   */
  readonly nextFiring?: (since: number) => number | null;
  /**
   * No attempt begins at or after this time (epoch milliseconds). Absent: only the job's retry rule and its next firing
   * set a limit.
   */
  readonly deadline?: number;
}

/** The next attempt of a job; undefined if its runs aren't retried. */
export function attemptOf(options: AttemptOptions): Attempt | undefined {
  const { job, row, now, firedAt, logicalAt, isKept, deadline = Number.POSITIVE_INFINITY } = options;
  const { retry: rule } = job;
  if (rule === undefined) return undefined;
  const number = (row?.attempt ?? 0) + 1;
  const since = row?.since ?? Math.round(now());
  const waits = row?.waits ?? 0;
  return {
    number,
    run: row?.run,
    isKept,
    handedOn: new HandedOn(row?.facts ?? null),
    after(run, problem) {
      const decided = decideRetry({
        ...{ rule, problem, attempt: number, waits, since },
        now: now(),
        nextFiring: options.nextFiring?.(since) ?? null,
        seed: `${job.name} ${firedAt} ${number}`,
      });
      if (decided.at === undefined) return decided;
      const { at, until } = decided;
      if (at >= deadline) return {};
      const end = Math.round(Math.min(until, deadline));
      const begun = { fired_at: firedAt, logical_at: logicalAt ?? null, since };
      const waited = { attempt: number, waits: waits + 1, next_at: at, until: end };
      return { row: { job: job.name, run, ...begun, ...waited, facts: null } };
    },
  };
}
