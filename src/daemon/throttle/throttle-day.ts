import type { JobPriority } from '../../config/config.ts';

/** The requests that a job needs for the rest of the day. */
export interface Throttleable {
  readonly job: string;
  readonly priority: JobPriority;
  /** The expected cost of a firing, in thousandths of a request. */
  readonly cost: number;
  /** The job's remaining firings today. */
  readonly firings: number;
  /** Whether the job has run today. If so, it may be paused for the rest of the day. */
  readonly ran: boolean;
  /** Whether the job may be throttled. Jobs with priority `high` never are, regardless of this value. */
  readonly mayThrottle: boolean;
}

/** How to throttle jobs so that the allowance lasts for the day. */
export interface ThrottlePlan {
  /** For each throttled job: n if only every nth firing runs, or 0 if none runs for the rest of the day. */
  readonly every: ReadonlyMap<string, number>;
  /** Requests that are still missing despite throttling, in thousandths; 0 if the allowance is enough. */
  readonly short: number;
}

/** The priorities whose jobs may be throttled, in the order in which this happens. */
const yielding: readonly JobPriority[] = ['low', 'normal'];

/** Remaining firings if only every nth one runs. */
export function firingsLeft(firings: number, every: number): number {
  return every === 0 ? 0 : Math.ceil(firings / every);
}

/**
 * Decides which jobs to throttle and how much, so that the rest of the day costs at most `room` (in thousandths of a
 * request). Throttles jobs of the lowest priority as far as possible before those of the next one. Within a priority,
 * throttles evenly, starting with the most expensive jobs. A job that hasn't run today keeps one firing.
 */
export function throttleDay(jobs: readonly Throttleable[], room: number): ThrottlePlan {
  const every = new Map<string, number>();
  let over = jobs.reduce((sum, { cost, firings }) => sum + cost * firings, 0) - room;
  for (const priority of yielding) {
    if (over <= 0) break;
    over -= throttleClass(
      jobs.filter((job) => job.priority === priority && canGive(job)),
      { over, every },
    );
  }
  return { every, short: Math.max(0, over) };
}

interface Giving {
  readonly over: number;
  readonly every: Map<string, number>;
}

/** Throttles the jobs of one priority as needed, and returns how much that saves. */
function throttleClass(jobs: readonly Throttleable[], { over, every }: Giving): number {
  const maxNth = Math.max(1, ...jobs.map(({ firings }) => firings));
  const given = (nth: number): number => jobs.reduce((sum, job) => sum + saving(job, 1, nth), 0);
  const nth = leastThat(1, maxNth, (candidate) => given(candidate) >= over);
  let saved = nth === 1 ? 0 : given(nth - 1);
  for (const job of jobs) if (nth > 2) every.set(job.job, Math.min(nth - 1, job.firings));
  for (const job of byWeight(jobs, nth - 1, nth)) {
    if (saved >= over) break;
    saved += saving(job, nth - 1, nth);
    every.set(job.job, Math.min(nth, job.firings));
  }
  for (const job of byWeight(jobs, nth, 0)) {
    if (saved >= over) break;
    if (!job.ran) continue;
    saved += saving(job, nth, 0);
    every.set(job.job, 0);
  }
  for (const [job, times] of every) if (times === 1) every.delete(job);
  return saved;
}

/** Thousandths of a request saved by running every `to`-th firing instead of every `from`-th. */
function saving({ cost, firings }: Throttleable, from: number, to: number): number {
  return cost * (firingsLeft(firings, from) - firingsLeft(firings, to));
}

/** The jobs for which this step saves requests, largest savings first, then by name. */
function byWeight(jobs: readonly Throttleable[], from: number, to: number): Throttleable[] {
  if (from === 0) return [];
  return jobs
    .filter((job) => saving(job, from, to) > 0)
    .sort((a, b) => saving(b, from, to) - saving(a, from, to) || (a.job < b.job ? -1 : 1));
}

const canGive = ({ mayThrottle, cost, firings }: Throttleable): boolean => mayThrottle && cost > 0 && firings > 0;

/**
 * Binary search for the least number in [`low`, `high`] for which a monotonic predicate is true; `high` if it never is.
 */
function leastThat(low: number, high: number, isSo: (candidate: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (isSo(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
