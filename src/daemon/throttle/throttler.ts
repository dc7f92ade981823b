import type { Config, Job } from '../../config/config.ts';
import { dayOf, untilMidnight } from '../../delivery/quota.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Emit } from '../../lib/events.ts';
import { nextFiring } from '../../schedule/schedule.ts';
import type { ThrottledJob as Throttle } from '../../state/quota/throttled-jobs.ts';
import { usesTurn } from '../../state/runs/run-stats.ts';
import type { Store } from '../../state/store.ts';
import type { RunEvents } from '../events.ts';
import { budgetsOfDay } from './day-budget.ts';
import { nthFiring } from './next-throttled-run.ts';
import { throttleDay } from './throttle-day.ts';
import { throttleText } from './throttle-text.ts';

/** While jobs fire, the day's plan is recalculated at this interval, because usage and costs change. */
const reviewMs = 15 * 60_000;
/** A firing older than this counts as missed. */
const lateMs = 60_000;

interface ThrottlerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit<RunEvents>;
}

/** Throttles the least important jobs on days when the allowance isn't enough for all jobs. */
export class Throttler {
  readonly #given: ThrottlerOptions;
  #reviewed: { readonly config: Config; readonly day: string; readonly at: number } | undefined;
  #reviewing: Promise<void> | undefined;
  #throttled: ReadonlyMap<string, Throttle> = new Map();
  /** Accounts already reported as short of requests despite throttling. */
  readonly #short = new Set<string>();

  constructor(given: ThrottlerOptions) {
    this.#given = given;
  }

  /** Why a firing of the job is skipped; undefined if it runs. */
  async judge(job: Job, at: number, config: Config): Promise<string | undefined> {
    if (job.schedule === undefined || job.destination.whenShort !== 'throttle') return undefined;
    while (this.#isStale(config)) await this.#review(config, at);
    const throttle = this.#throttled.get(job.name);
    if (throttle === undefined) return undefined;
    return (await this.#isTurn(job, at, throttle.every)) ? undefined : throttle.message;
  }

  /** The job's next firing after a given time (epoch ms) under the current throttles; null if there is none. */
  nextFiring({ name, schedule }: Job, after: number): number | null {
    const throttle = this.#throttled.get(name);
    const from = throttle?.every === 0 ? Math.max(after, throttle.until - 1) : after;
    return schedule === undefined ? null : nextFiring(schedule, from);
  }

  #isStale(config: Config): boolean {
    const { clock } = this.#given;
    const last = this.#reviewed;
    if (last?.config !== config || last.day !== dayOf(clock.now())) return true;
    return clock.monotonic() - last.at >= reviewMs;
  }

  /** Returns the review in progress, which concurrent callers share, or starts one. */
  #review(config: Config, firing: number): Promise<void> {
    this.#reviewing ??= this.#recalculate(config, firing).finally(() => {
      this.#reviewing = undefined;
    });
    return this.#reviewing;
  }

  async #recalculate(config: Config, firing: number): Promise<void> {
    const { store, clock } = this.#given;
    const [now, at] = [clock.now(), clock.monotonic()];
    const until = now + untilMidnight(now);
    // Include the request of the current firing. If that firing was missed long ago, the firings since then aren't
    // counted.
    const from = Math.min(now, Math.max(firing, now - lateMs));
    const before = new Map((await store.throttledJobs.now()).map((throttle) => [throttle.job, throttle]));
    const throttled = new Map<string, Throttle>();
    for (const { account, destination, room, jobs } of await budgetsOfDay(config, store, { now, from })) {
      const { every, short } = throttleDay(jobs, room);
      for (const [job, nth] of every) {
        const message = throttleText(config.jobs.get(job)!.schedule!, { every: nth, now, until });
        throttled.set(job, { job, every: nth, message, until });
      }
      this.#sayShort({ account, destination, until }, Math.ceil(short / 1000));
    }
    await store.throttledJobs.replace([...throttled.values()]);
    this.#throttled = throttled;
    this.#reviewed = { config, day: dayOf(now), at };
    this.#sayChanges(before, throttled);
  }

  #sayChanges(before: ReadonlyMap<string, Throttle>, after: ReadonlyMap<string, Throttle>): void {
    const { emit } = this.#given;
    for (const { job, every, message, until } of after.values()) {
      if (before.get(job)?.every !== every) emit('job.throttled', { job, every, message, until });
    }
    for (const job of before.keys()) if (!after.has(job)) emit('job.unthrottled', { job });
  }

  #sayShort(facts: { account: string; destination: string; until: number }, requests: number): void {
    const key = `${facts.account} ${facts.until}`;
    if (requests === 0 || this.#short.has(key)) return;
    this.#short.add(key);
    this.#given.emit('quota.short', { ...facts, requests });
  }

  /**
   * Whether enough firings have passed since the last run that used up a firing (see `usesTurn`). Ignores a run whose
   * start is in the future, because its time came from a wrong clock.
   */
  async #isTurn({ name, schedule }: Job, at: number, every: number): Promise<boolean> {
    if (every === 0) return false;
    const { store, clock } = this.#given;
    const last = await store.runs.last(name);
    if (last === undefined || !usesTurn(last) || last.started_at > clock.now()) return true;
    const turn = nthFiring(schedule!, last.started_at, every);
    return turn !== null && turn <= at;
  }
}
