import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';

interface StallTimerOptions {
  readonly clock: Clock;
  /** Longest single wait, milliseconds; 0 = for ever. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** What a wait ends with that took too long. */
  readonly exhausted: (waitedMs: number) => Error;
}

/**
 * Waits for the source, but not for ever: a wait ends early when the run is stopped or when it alone takes longer than
 * the limit. One timer and one listener for the whole run, so that a wait costs one promise and nothing piles up on a
 * promise that lives long.
 */
export class StallTimer {
  readonly #options: StallTimerOptions;
  readonly #over = new AbortController();
  readonly #onAbort = () => this.#giveUp?.(this.#options.signal.reason);
  #since = 0;
  #giveUp: ((reason: unknown) => void) | undefined;

  constructor(given: StallTimerOptions) {
    this.#options = given;
    given.signal.addEventListener('abort', this.#onAbort);
    if (given.limitMs > 0) void this.#watch();
  }

  /** The promise's outcome, or the reason for not waiting any longer. What comes after that is dropped in silence. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const { signal, clock } = this.#options;
      this.#since = clock.monotonic();
      this.#giveUp = reject;
      if (signal.aborted) reject(signal.reason);
      promise.then(resolve, reject).finally(() => {
        if (this.#giveUp === reject) this.#giveUp = undefined;
      });
    });
  }

  /** What is waited for has shown that it is at work: the wait counts from now. */
  refresh(): void {
    this.#since = this.#options.clock.monotonic();
  }

  /** What is waited for will not come to a good end: the wait is over, for this reason. */
  giveUp(reason: unknown): void {
    this.#giveUp?.(reason);
  }

  end(): void {
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#over.abort('over');
  }

  async #watch(): Promise<void> {
    const { clock, limitMs, exhausted } = this.#options;
    try {
      for (let pause = limitMs; ; ) {
        await clock.sleep(pause, this.#over.signal);
        // A clock of a test may sleep no time at all; the watch must not keep everything else from running.
        await nextTurn();
        if (this.#over.signal.aborted) return;
        const waited = this.#giveUp === undefined ? 0 : clock.monotonic() - this.#since;
        if (waited >= limitMs) return this.#giveUp?.(exhausted(waited));
        pause = limitMs - waited;
      }
    } catch {
      // Only `end` breaks the sleep.
    }
  }
}
