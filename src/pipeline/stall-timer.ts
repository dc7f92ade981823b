import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';

interface StallTimerOptions {
  readonly clock: Clock;
  /** Maximum length of a single wait in milliseconds; 0: no limit. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Creates the error for a wait that took too long. */
  readonly exhausted: (waitedMs: number) => Error;
}

/**
 * Stall timeout for a source: a wait rejects if the run is stopped or the wait exceeds the limit. The whole run shares
 * one timer and one listener, so that a wait costs a single promise and nothing accumulates on a long-lived promise.
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

  /** Settles like the promise, or rejects on timeout or abort; a later result is ignored. */
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

  /** Restarts the timeout. Call this when the source shows that it's alive. */
  refresh(): void {
    this.#since = this.#options.clock.monotonic();
  }

  /** Rejects the current wait with this reason. Call this when the source can no longer succeed. */
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
        // A test clock's sleep may end at once, so yield to keep this loop from starving other work.
        await nextTurn();
        if (this.#over.signal.aborted) return;
        const waited = this.#giveUp === undefined ? 0 : clock.monotonic() - this.#since;
        if (waited >= limitMs) return this.#giveUp?.(exhausted(waited));
        pause = limitMs - waited;
      }
    } catch {
      // Only `end` aborts the sleep.
    }
  }
}
