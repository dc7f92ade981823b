import { type Clock, systemClock } from '../../lib/clock.ts';

/** How long a sample counts at least, in milliseconds. It counts for at most twice as long. */
const windowMs = 30_000;

/** If the clock would go back by more than this, in milliseconds, the server's clock has been set back. */
const maxBackwardsMs = 1_000;

/**
 * The clock of a database server, as far as this process knows it. Each sample is a time that the server's clock has
 * passed, so this clock is never ahead of the server's, apart from the drift between two samples. A transaction takes a
 * sample after it has acquired the state's lock. Its times are therefore later than the times in all transactions that
 * held the lock before it, whichever machine they ran on.
 *
 * The result is the server's wall clock in epoch milliseconds, also as the monotonic time, which all machines share.
 * It's the highest of the last samples (a sliding-window maximum, kept as two halves), continued by the local monotonic
 * clock.
 */
export class ServerClock implements Clock {
  readonly local: Clock;
  /** The highest difference between the server's time and the local monotonic time, in this window and the last one. */
  #offset: number;
  #formerOffset = Number.NEGATIVE_INFINITY;
  #since = Number.NEGATIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  constructor(local: Clock = systemClock) {
    this.local = local;
    this.#offset = local.now() - local.monotonic();
  }

  /** Adds a time that the server has reported, in epoch milliseconds. Call it as soon as the response is there. */
  sample(serverMs: number): void {
    const now = this.local.monotonic();
    const offset = serverMs - now;
    const age = now - this.#since;
    if (age < windowMs) {
      this.#offset = Math.max(this.#offset, offset);
      return;
    }
    this.#formerOffset = age < 2 * windowMs ? this.#offset : Number.NEGATIVE_INFINITY;
    this.#offset = offset;
    this.#since = now;
  }

  now(): number {
    return Math.floor(this.monotonic());
  }

  monotonic(): number {
    const time = this.local.monotonic() + Math.max(this.#offset, this.#formerOffset);
    this.#last = time < this.#last - maxBackwardsMs ? time : Math.max(time, this.#last);
    return this.#last;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.local.sleep(milliseconds, signal);
  }
}
