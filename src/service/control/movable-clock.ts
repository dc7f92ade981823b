import type { Clock } from '../../lib/clock.ts';

/** A test clock that can be set, advanced and frozen. By default, it returns the time of the clock that it wraps. */
export class MovableClock implements Clock {
  readonly #real: Clock;
  #offset = 0;
  /** Milliseconds skipped by {@link advance}. */
  #skipped = 0;
  #stoppedAt: number | undefined;

  constructor(real: Clock) {
    this.#real = real;
  }

  now(): number {
    return this.#stoppedAt ?? this.#real.now() + this.#offset;
  }

  /**
   * The monotonic clock runs even while the wall clock is frozen, so that rate-limit windows still expire. Only {@link
   * advance} makes it skip time.
   */
  monotonic(): number {
    return this.#real.monotonic() + this.#skipped;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#real.sleep(milliseconds, signal);
  }

  get isFrozen(): boolean {
    return this.#stoppedAt !== undefined;
  }

  /**
   * Offset from the real time in milliseconds; negative if this clock is behind. Reads the real clock only once,
   * because its time changes between reads.
   */
  get offsetMs(): number {
    return this.#stoppedAt === undefined ? this.#offset : this.#stoppedAt - this.#real.now();
  }

  get realNow(): number {
    return this.#real.now();
  }

  /** Sets the wall clock, which stays frozen or keeps running as before. */
  set(now: number): void {
    if (this.#stoppedAt === undefined) this.#offset = now - this.#real.now();
    else this.#stoppedAt = now;
  }

  /** Advances both the wall clock and the monotonic clock. */
  advance(milliseconds: number): void {
    if (this.#stoppedAt === undefined) this.#offset += milliseconds;
    else this.#stoppedAt += milliseconds;
    this.#skipped += milliseconds;
  }

  /** Freezes the clock at `at`, or at the current time. */
  freeze(at = this.now()): void {
    this.#stoppedAt = at;
  }

  /** Resumes the clock from the time at which it was frozen. */
  resume(): void {
    const at = this.#stoppedAt;
    this.#stoppedAt = undefined;
    if (at !== undefined) this.set(at);
  }

  /** Returns to the real time. */
  release(): void {
    this.#stoppedAt = undefined;
    this.#offset = 0;
  }
}
