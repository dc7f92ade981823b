import type { Clock } from '../lib/clock.ts';

/** What was seen whole so long ago is read again before it is sent: a disk may have turned a bit since. */
const validMs = 60_000;

/** Payloads (ids of the outbox) whose bytes this process has just seen whole: written or verified by it. */
export class VerifiedCache {
  readonly #clock: Clock;
  /** When they were seen (monotonic ms). */
  readonly #seen = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(id: number): void {
    this.#seen.set(id, this.#clock.monotonic());
  }

  has(id: number): boolean {
    const seen = this.#seen.get(id);
    return seen !== undefined && this.#clock.monotonic() - seen < validMs;
  }

  /** It was sent or waits for a retry: the next attempt verifies it again. */
  end(id: number): void {
    this.#seen.delete(id);
  }
}
