import type { JobPriority } from '../../config/config.ts';

/** A job as far as the rest of a day goes. */
export interface Throttleable {
  readonly job: string;
  readonly priority: JobPriority;
  /** What a firing is expected to cost, in thousandths of a request. */
  readonly cost: number;
  /** Firings that its schedule still has on the day. */
  readonly firings: number;
  /** It has had a run on this day, so that it may rest for the remainder. */
  readonly ran: boolean;
  /** It may be given fewer firings than its schedule has; `high` never is, whatever this says. */
  readonly mayThrottle: boolean;
}

/** How a day is made to fit. */
export interface ThrottlePlan {
  /** By job: only every n-th firing runs; 0: none for the rest of the day. Jobs that run as asked are not in it. */
  readonly every: ReadonlyMap<string, number>;
  /** Thousandths of a request that are wanted even so beyond what there is; 0 when it fits. */
  readonly short: number;
}

/** The order in which jobs give way. */
const yielding: readonly JobPriority[] = ['low', 'normal'];

/** Firings that are left where only every n-th runs. */
export function firingsLeft(firings: number, every: number): number {
  return every === 0 ? 0 : Math.ceil(firings / every);
}

/**
 * Which jobs have to run how much less often, so that the rest of the day costs at most `room` (thousandths of a
 * request). The least important give way first and alike: each class as far as it can before the next one is touched, and
 * within a class the ones that cost most first. A job that has not run on this day keeps one firing of it.
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

/** Writes down what one class gives; returns how much that is. */
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

/** Thousandths of a request that it saves when a job which runs every `from`-th time runs every `to`-th time instead. */
function saving({ cost, firings }: Throttleable, from: number, to: number): number {
  return cost * (firingsLeft(firings, from) - firingsLeft(firings, to));
}

/** Those that save anything by the step, most of it first; of equals, by name. */
function byWeight(jobs: readonly Throttleable[], from: number, to: number): Throttleable[] {
  if (from === 0) return [];
  return jobs
    .filter((job) => saving(job, from, to) > 0)
    .sort((a, b) => saving(b, from, to) - saving(a, from, to) || (a.job < b.job ? -1 : 1));
}

const canGive = ({ mayThrottle, cost, firings }: Throttleable): boolean => mayThrottle && cost > 0 && firings > 0;

/** The least number from `low` to `high` of which something is so, given that it stays so; `high` where it never is. */
function leastThat(low: number, high: number, isSo: (candidate: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (isSo(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
