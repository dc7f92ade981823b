import type { Job } from '../../config/config.ts';
import type { Problem } from '../../lib/problem.ts';
import type { RetryRow } from '../../state/tables.ts';
import { decideRetry } from './decide-retry.ts';
import { HandedOn } from './handed-on.ts';

/** What follows a failed attempt: another one, or none and, where that needs words, why. */
export type Follow = { readonly row: RetryRow } | { readonly row?: undefined; readonly why?: string };

/** One attempt of a run, as the run knows it. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  /** The run that it goes on with; absent for the first. */
  readonly run?: string;
  /** Whether what follows is written into the state, for any process to take up. */
  readonly isKept: boolean;
  /** What the attempt before it handed on, and what it hands on itself. */
  readonly handedOn: HandedOn;
  /** What follows if this attempt of `run` fails with `problem`, as things are now. */
  after(run: string, problem: Problem): Follow;
}

export interface AttemptOptions {
  readonly job: Job;
  /** What the attempts before it came to; absent for the first. */
  readonly row?: RetryRow | undefined;
  readonly now: () => number;
  readonly firedAt: number;
  readonly logicalAt?: number | undefined;
  readonly isKept: boolean;
  /** The firing that no attempt begins at or after, given when the first one began; absent: there is none. */
  readonly nextFiring?: (since: number) => number | null;
  /** No attempt begins then or later, epoch milliseconds; absent: only the job's rule and its next firing end them. */
  readonly deadline?: number;
}

/** The next attempt of a job; undefined if its runs are not tried again. */
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
