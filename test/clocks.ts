import { type Clock, systemClock } from '../src/lib/clock.ts';

/** Noon in New York, on a day in June. */
export const noon = Date.UTC(2026, 5, 15, 16, 0, 0);

interface SteppingClockOptions {
  /** If true, a sleep doesn't advance the clock. It ends when the test has advanced the clock to the sleep's end. */
  readonly manual?: boolean;
  /** Called during each sleep with the number of sleeps so far. */
  readonly onSleep?: (nth: number) => unknown;
}

/** A clock that moves only if a test advances it or code sleeps on it. */
export class SteppingClock implements Clock {
  wall: number;
  ticks = 1_000_000;
  /** Lengths of all sleeps so far, in milliseconds. */
  readonly slept: number[] = [];
  readonly #options: SteppingClockOptions;
  readonly #sleepers = new Set<{ readonly at: number; wake(): void }>();

  /** `start`: epoch milliseconds, or a time as ISO 8601. */
  constructor(start: number | string = noon, options: SteppingClockOptions = {}) {
    this.wall = typeof start === 'string' ? Date.parse(start) : start;
    this.#options = options;
  }

  now = () => this.wall;
  monotonic = () => this.ticks;

  advance(milliseconds: number): void {
    this.wall += milliseconds;
    this.ticks += milliseconds;
    for (const sleeper of this.#sleepers) if (sleeper.at <= this.ticks) sleeper.wake();
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const { manual = false, onSleep } = this.#options;
    signal?.throwIfAborted();
    this.slept.push(milliseconds);
    if (manual) return this.#wait(milliseconds, signal);
    this.advance(Math.max(milliseconds, 0.001));
    if (onSleep !== undefined) {
      await onSleep(this.slept.length);
      signal?.throwIfAborted();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }

  #wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { at: this.ticks + milliseconds, wake: resolve };
    const onAbort = () => reject(signal?.reason);
    this.#sleepers.add(sleeper);
    signal?.addEventListener('abort', onAbort, { once: true });
    return promise.finally(() => {
      this.#sleepers.delete(sleeper);
      signal?.removeEventListener('abort', onAbort);
    });
  }
}

/**
 * The system clock plus what the test adds to it: `wall` to the wall clock, and `ticks` to the monotonic clock. Sleeps
 * take real time.
 */
export class ShiftedClock implements Clock {
  wall: number;
  ticks: number;

  constructor({ wall = 0, ticks = 0 } = {}) {
    this.wall = wall;
    this.ticks = ticks;
  }

  now = () => systemClock.now() + this.wall;
  monotonic = () => systemClock.monotonic() + this.ticks;
  sleep = systemClock.sleep;

  advance(milliseconds: number): void {
    this.wall += milliseconds;
    this.ticks += milliseconds;
  }
}
