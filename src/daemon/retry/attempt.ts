import type { Job } from '../../config/config.ts';
import type { Problem } from '../../lib/problem.ts';
import type { RetryRow } from '../../state/tables.ts';
import { decideRetry } from './decide-retry.ts';
import { HandedOn } from './handed-on.ts';

/** What follows a failed attempt: another attempt, or none, with a reason if it's worth reporting. */
export type Follow = { readonly row: RetryRow } | { readonly row?: undefined; readonly why?: string };

/** One attempt of a run. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  readonly run?: string;
  /** Whether the retry is stored, so that any process can continue it. */
  readonly isKept: boolean;
  /** The facts received from the previous attempt, and those for the next one. */
  readonly handedOn: HandedOn;
  /** Decides what follows if this attempt of `run` has just failed with `problem`. */
  after(run: string, problem: Problem): Follow;
}

export interface AttemptOptions {
  readonly job: Job;
  /** The retry row of the previous attempts; absent for the first. */
  readonly row?: RetryRow | undefined;
  readonly now: () => number;
  readonly firedAt: number;
  readonly logicalAt?: number | undefined;
  readonly isKept: boolean;
  /**
   * The job's next firing after the first attempt began. No attempt begins at or after that firing. Absent if there is
   * none.
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
