import type { Clock } from '../src/lib/clock.ts';

/** Noon in New York, on a day in June. */
export const noon = Date.UTC(2026, 5, 15, 16, 0, 0);

/** A clock that moves only if a test advances it or code sleeps on it. */
export class SteppingClock implements Clock {
  wall: number;
  ticks = 1_000_000;

  /** `start`: epoch milliseconds, or a time as ISO 8601. */
  constructor(start: number | string = noon) {
    this.wall = typeof start === 'string' ? Date.parse(start) : start;
  }

  now = () => this.wall;
  monotonic = () => this.ticks;

  advance(milliseconds: number): void {
    this.wall += milliseconds;
    this.ticks += milliseconds;
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.advance(Math.max(milliseconds, 0.001));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A clock that moves only if a test advances it: a sleep ends when the clock reaches the sleep's end. */
export class HandClock extends SteppingClock {
  readonly #sleepers = new Set<{ readonly at: number; wake(): void }>();

  override advance(milliseconds: number): void {
    super.advance(milliseconds);
    for (const sleeper of this.#sleepers) if (sleeper.at <= this.ticks) sleeper.wake();
  }

  override sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', abort);
      };
      const wake = () => {
        leave();
        resolve();
      };
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      const sleeper = { at: this.ticks + milliseconds, wake };
      if (signal?.aborted) return reject(signal.reason);
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
