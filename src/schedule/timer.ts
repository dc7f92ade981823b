import { schedule as startTask } from 'node-cron';
import { type Clock, systemClock } from '../lib/clock.ts';

/** A firing that stands in the plan. */
export interface Due {
  readonly job: string;
  /** Epoch milliseconds; in the past or the future. */
  readonly at: number;
  /** Another attempt at a firing that was acted on already. */
  readonly isAttempt?: true;
}

export interface TimerHooks {
  /** All planned firings as they are written down; asked for at every look. */
  dueAt(): Iterable<Due>;
  /**
   * Called for each firing whose instant has come, in order of the instants. Has to move the job's plan on before it
   * returns, else the next look fires it again. What it starts, it does not wait for.
   */
  fire(due: Due): void;
  /** The wall clock jumped: it was set by so many milliseconds, or (0) the machine slept or the process was suspended. Called before the next look. */
  jumped?(by: number): void;
  /** A hook threw: that firing is lost to this look alone. */
  failed(error: unknown): void;
}

export interface Timer {
  /** Looks at once, then when the next firing is due, and at the start of every minute. */
  start(hooks: TimerHooks): void;
  /** Looks now: after a reload, or when a plan was changed. */
  look(): void;
  /** Milliseconds since the plan was last looked at; undefined before the start and after the end. */
  silence(): number | undefined;
  /** No hook is called any more; nothing keeps the process alive. */
  stop(): void;
}

/** What calls back at the start of every minute until it is destroyed. */
interface Tick {
  /** Calls back once more after so many milliseconds, less than a minute; a later call takes the place of an earlier one. */
  aim(milliseconds: number): void;
  destroy(): unknown;
}
export type StartTick = (look: () => void) => Tick;

/** How often the clock is compared with the one that never jumps. */
const guardMs = 5_000;
/** A clock that was set by so much is told of; the rest is what time servers do all the time. */
const toldMs = 2_000;
/** A jump beyond this starts the tick afresh. */
const jumpMs = 30_000;
/** So does a tick that has not been heard of for so long: it has died. */
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
 * The only place that waits for schedules. The tick is a heartbeat, once a minute: what is due is read from the plan and
 * compared with the clock, so no firing is lost to a suspended machine or a busy process, and no wait is ever long enough
 * to overflow a timer. What is due within the minute is aimed at. node-cron reckons from the tick it expects next, which
 * after a jump of the clock may be years away in either direction; the guard sees the jump and starts the tick afresh, as
 * it does with one that died. A clock that is not of this machine needs a tick of its own (`tickOf`).
 */
export function createTimer(clock: Clock = systemClock, tickOf: StartTick = everyMinute): Timer {
  let hooks: TimerHooks | undefined;
  let tick: ReturnType<StartTick> | undefined;
  let guard: NodeJS.Timeout | undefined;
  /** How far the wall clock was ahead of the monotonic one when the tick was started, and when they were compared last. */
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
  /** By how much the clock was set since the last time, 0 where by little; the clock of a machine that slept was not set. */
  const setBy = (): number => {
    const [former, slept] = [comparedOffset, asleep];
    comparedOffset = clockOffset();
    asleep = clock.asleep?.() ?? 0;
    const by = comparedOffset - former;
    const set = by > toldMs && asleep - slept > toldMs ? by - (asleep - slept) : by;
    return Math.abs(set) >= toldMs ? set : 0;
  };
  const watchClock = (): void => {
    const by = setBy();
    const hasJumped = Math.abs(clockOffset() - offset) >= jumpMs;
    const isDead = clock.monotonic() - lookedAt >= deadMs;
    // The guard missed its times, too: the process was suspended, and the tick is not to blame.
    const wasSuspended = clock.monotonic() - guardedAt >= jumpMs;
    guardedAt = clock.monotonic();
    if (hasJumped || isDead) startTick();
    if (hasJumped || by !== 0 || (isDead && wasSuspended)) hooks?.jumped?.(by);
    else if (isDead) hooks?.failed(new Error('the tick of the schedules had died and was started anew'));
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

/** Fires what is due; the milliseconds to what is due next. */
function fireDue(hooks: TimerHooks, clock: Clock): number {
  try {
    const now = clock.now();
    const due = [...hooks.dueAt()].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
    for (const one of due) attempt(hooks, () => hooks.fire(one));
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of hooks.dueAt()) if (at > now && at < next) next = at;
    return Math.max(0, next - clock.now());
  } catch (error) {
    hooks.failed(error);
    return Number.POSITIVE_INFINITY;
  }
}

function attempt(hooks: TimerHooks, work: () => void): void {
  try {
    work();
  } catch (error) {
    hooks.failed(error);
  }
}
