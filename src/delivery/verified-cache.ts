import type { Clock } from '../lib/clock.ts';

/** After this time, a payload is verified again before it's sent, because its file may have become corrupted. */
const validMs = 60_000;

/** Outbox IDs of payloads that this process has recently written or verified. */
export class VerifiedCache {
  readonly #clock: Clock;
  /** When each payload was verified (monotonic ms). */
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

  /** Call this when a payload has been sent or waits for a retry, so that the next attempt verifies it again. */
  end(id: number): void {
    this.#seen.delete(id);
  }
}
