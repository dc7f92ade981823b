import { schedule as startTask } from 'node-cron';
import { type Clock, systemClock } from '../lib/clock.ts';

/** A firing that stands in the plan. */
interface Due {
  readonly job: string;
  /** Epoch milliseconds; in the past or the future. */
  readonly at: number;
}

export interface TimerHooks {
  /** All planned firings as they are written down; asked for at every look. */
  dueAt(): Iterable<Due>;
  /**
   * Called for each firing whose instant has come, in order of the instants. Has to move the job's plan on before it
   * returns, else the next look fires it again. What it starts, it does not wait for.
   */
  fire(job: string, at: number): void;
  /** A hook threw: that firing is lost to this look alone. */
  failed(error: unknown): void;
}

export interface Timer {
  /** Looks at once, then at the start of every minute. */
  start(hooks: TimerHooks): void;
  /** Looks now: after a reload, or when a plan was changed. */
  look(): void;
  /** Milliseconds since the plan was last looked at; undefined before the start and after the end. */
  silence(): number | undefined;
  /** No hook is called any more; nothing keeps the process alive. */
  stop(): void;
}

/** Calls back at the start of every minute until it is destroyed. */
export type StartTick = (look: () => void) => { destroy(): unknown };

/** How often the clock is compared with the one that never jumps. */
const guardMs = 5_000;
/** A jump beyond this starts the tick afresh. */
const jumpMs = 30_000;
const silent = { info() {}, warn() {}, error() {}, debug() {} };

const everyMinute: StartTick = (look) =>
  startTask('* * * * *', look, {
    timezone: 'UTC',
    noOverlap: true,
    missedExecutionTolerance: 24 * 60 * 60 * 1000,
    logger: silent,
  });

/**
 * The only place that waits for schedules. The tick is a heartbeat, once a minute: what is due is read from the plan and
 * compared with the clock, so no firing is lost to a suspended machine or a busy process, and no wait is ever long enough
 * to overflow a timer. node-cron reckons from the tick it expects next, which after a jump of the clock may be years
 * away in either direction; the guard sees the jump and starts the tick afresh. A clock that is not of this machine needs
 * a tick of its own (`tickOf`).
 */
export function createTimer(clock: Clock = systemClock, tickOf: StartTick = everyMinute): Timer {
  let hooks: TimerHooks | undefined;
  let tick: ReturnType<StartTick> | undefined;
  let guard: NodeJS.Timeout | undefined;
  let offset = 0;
  let lookedAt = 0;

  const clockOffset = (): number => clock.now() - clock.monotonic();
  const look = (): void => {
    if (hooks === undefined) return;
    lookedAt = clock.monotonic();
    fireDue(hooks, clock.now());
  };
  const startTick = (): void => {
    void tick?.destroy();
    offset = clockOffset();
    tick = tickOf(look);
  };
  const watchClock = (): void => {
    if (Math.abs(clockOffset() - offset) < jumpMs) return;
    startTick();
    look();
  };
  return {
    start(given) {
      this.stop();
      hooks = given;
      startTick();
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

function fireDue(hooks: TimerHooks, now: number): void {
  try {
    const due = [...hooks.dueAt()].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
    for (const { job, at } of due) attempt(hooks, () => hooks.fire(job, at));
  } catch (error) {
    hooks.failed(error);
  }
}

function attempt(hooks: TimerHooks, work: () => void): void {
  try {
    work();
  } catch (error) {
    hooks.failed(error);
  }
}
