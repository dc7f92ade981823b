import type { JobPriority } from '../../config/config.ts';

/** What a job needs for the rest of the day. */
export interface Throttleable {
  readonly job: string;
  readonly priority: JobPriority;
  /** The expected cost of a firing, in thousandths of a request. */
  readonly cost: number;
  /** Its remaining firings today. */
  readonly firings: number;
  /** Whether it has run today, so that it may pause for the rest of the day. */
  readonly ran: boolean;
  /** Whether it may be throttled; jobs with priority `high` never are, regardless of this value. */
  readonly mayThrottle: boolean;
}

/** How to make a day fit. */
export interface ThrottlePlan {
  /** For each throttled job, the n if only every nth firing runs; 0 if it doesn't run for the rest of the day. */
  readonly every: ReadonlyMap<string, number>;
  /** Thousandths of a request still missing; 0 if the day fits. */
  readonly short: number;
}

/** Priorities in the order in which they're throttled. */
const yielding: readonly JobPriority[] = ['low', 'normal'];

/** Remaining firings if only every nth one runs. */
export function firingsLeft(firings: number, every: number): number {
  return every === 0 ? 0 : Math.ceil(firings / every);
}

/**
 * Decides how much to throttle which jobs, so that the rest of the day costs at most `room` (thousandths of a request).
 * Throttles the lowest priority class as far as possible before the next one. Within a class, throttles evenly,
 * starting with the most expensive jobs. A job that hasn't run today keeps one firing.
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

/** Throttles one class as needed, and returns how much that saves. */
function throttleClass(jobs: readonly Throttleable[], { over, every }: Giving): number {
  const most = Math.max(1, ...jobs.map(({ firings }) => firings));
  const given = (nth: number): number => jobs.reduce((sum, job) => sum + saving(job, 1, nth), 0);
  const nth = leastThat(1, most, (candidate) => given(candidate) >= over);
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

/** The jobs that save anything in this step, largest savings first, then by name. */
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
