import { schedule as startTask } from 'node-cron';
import { type Clock, systemClock } from '../lib/clock.ts';

/** A planned firing. */
export interface Due {
  readonly job: string;
  /** Due time in epoch milliseconds, in the past or the future. */
  readonly at: number;
  /** Set for a further attempt of a run that has already started. */
  readonly isAttempt?: true;
}

export interface TimerHooks {
  /** Returns all planned firings; called at each check. */
  dueAt(): Iterable<Due>;
  /**
   * Called for each due firing, in order of due time. Must advance the job's plan before it returns; otherwise, the
   * next check calls it again. Must not wait for the run that it starts.
   */
  fire(due: Due): void;
  /**
   * Called before the next check if the wall clock was set, with the difference in milliseconds, or with 0 if the
   * machine or the process was suspended.
   */
  jumped?(by: number): void;
  /** Called when a hook threw an error; the firing is skipped in this check only. */
  failed(error: unknown): void;
}

export interface Timer {
  /** Starts checking: immediately, when the next firing is due, and at the start of every minute. */
  start(hooks: TimerHooks): void;
  /** Checks now. Call this after a reload or a change to a plan. */
  look(): void;
  /** Milliseconds since the last check; undefined before the start and after the stop. */
  silence(): number | undefined;
  /** Stops the timer, which then no longer calls hooks or keeps the process alive. */
  stop(): void;
}

/** Calls back at the start of every minute until destroyed. */
interface Tick {
  /**
   * Schedules one call after this many milliseconds (less than a minute). Replaces a call that was scheduled earlier.
   */
  aim(milliseconds: number): void;
  destroy(): unknown;
}
export type StartTick = (look: () => void) => Tick;

/** How often the wall clock is compared with the monotonic clock. */
const guardMs = 5_000;
/** Clock changes smaller than this aren't reported, because time servers make them all the time. */
const reportedMs = 2_000;
/** A clock jump larger than this restarts the tick. */
const jumpMs = 30_000;
/** A tick that hasn't been called for this long is also restarted. */
const deadMs = 90_000;
const minuteMs = 60_000;
const silent = { info() {}, warn() {}, error() {}, debug() {} };

const everyMinute: StartTick = (look) => {
  let aimed: NodeJS.Timeout | undefined;
  const task = startTask('* * * * *', look, {
    timezone: 'UTC',
    noOverlap: true,
    missedExecutionTolerance: 24 * 60 * 60 * 1000,
    logger: silent,
  });
  return {
    aim(milliseconds) {
      clearTimeout(aimed);
      aimed = setTimeout(look, milliseconds);
    },
    destroy() {
      clearTimeout(aimed);
      return task.destroy();
    },
  };
};

/**
 * The only place that waits for schedules. A tick once a minute compares the plan with the clock, so that no firing is
 * lost while the machine is suspended or the process is busy, and no wait can overflow a timer. Firings due within the
 * minute get their own timer. node-cron counts from the tick it expects next, which may be years away after a clock
 * jump; a watchdog detects clock jumps and dead ticks, and restarts the tick. A clock other than this machine's needs
 * its own tick (`tickOf`).
 */
export function createTimer(clock: Clock = systemClock, tickOf: StartTick = everyMinute): Timer {
  let hooks: TimerHooks | undefined;
  let tick: ReturnType<StartTick> | undefined;
  let guard: NodeJS.Timeout | undefined;
  /** Wall clock minus monotonic clock, when the tick was started and at the last comparison. */
  let offset = 0;
  let comparedOffset = 0;
  let asleep = 0;
  let lookedAt = 0;
  let guardedAt = 0;

  const clockOffset = (): number => clock.now() - clock.monotonic();
  const look = (): void => {
    if (hooks === undefined) return;
    lookedAt = clock.monotonic();
    const next = fireDue(hooks, clock);
    if (next < minuteMs) tick?.aim(next);
  };
  const startTick = (): void => {
    void tick?.destroy();
    offset = clockOffset();
    tick = tickOf(look);
  };
  /** How much the clock was set since the last comparison; 0 if only by a little. Suspended time doesn't count. */
  const setBy = (): number => {
    const [former, slept] = [comparedOffset, asleep];
    comparedOffset = clockOffset();
    asleep = clock.asleep?.() ?? 0;
    const by = comparedOffset - former;
    const set = by > reportedMs && asleep - slept > reportedMs ? by - (asleep - slept) : by;
    return Math.abs(set) >= reportedMs ? set : 0;
  };
  const watchClock = (): void => {
    const by = setBy();
    const hasJumped = Math.abs(clockOffset() - offset) >= jumpMs;
    const isDead = clock.monotonic() - lookedAt >= deadMs;
    // The watchdog was late as well, so the process was suspended and the tick is fine.
    const wasSuspended = clock.monotonic() - guardedAt >= jumpMs;
    guardedAt = clock.monotonic();
    if (hasJumped || isDead) startTick();
    if (hasJumped || by !== 0 || (isDead && wasSuspended)) hooks?.jumped?.(by);
    else if (isDead) hooks?.failed(new Error('the timer of the scheduler had stopped and was restarted'));
    else return;
    look();
  };
  return {
    start(given) {
      this.stop();
      hooks = given;
      setBy();
      startTick();
      guardedAt = clock.monotonic();
      guard = setInterval(watchClock, guardMs);
      look();
    },
    look,
    silence: () => (hooks === undefined ? undefined : clock.monotonic() - lookedAt),
    stop() {
      hooks = undefined;
      void tick?.destroy();
      tick = undefined;
      clearInterval(guard);
    },
  };
}

/** Fires all due firings. Returns the milliseconds until the next one. */
function fireDue(hooks: TimerHooks, clock: Clock): number {
  try {
    const now = clock.now();
    const { due, next } = split(hooks.dueAt(), now);
    for (const one of due.sort((a, b) => a.at - b.at)) attempt(hooks, () => hooks.fire(one));
    // Firing has advanced the plans, so look at them again.
    const following = due.length === 0 ? next : split(hooks.dueAt(), now).next;
    return Math.max(0, following - clock.now());
  } catch (error) {
    hooks.failed(error);
    return Number.POSITIVE_INFINITY;
  }
}

/** Splits a plan into the due firings and the time of the first firing after them. */
function split(plan: Iterable<Due>, now: number): { due: Due[]; next: number } {
  const due: Due[] = [];
  let next = Number.POSITIVE_INFINITY;
  for (const one of plan) {
    if (one.at <= now) due.push(one);
    else if (one.at < next) next = one.at;
  }
  return { due, next };
}

function attempt(hooks: TimerHooks, work: () => void): void {
  try {
    work();
  } catch (error) {
    hooks.failed(error);
  }
}
