import type { Clock } from '../../lib/clock.ts';

/** A clock that can be set, sent ahead and stopped, for tests of what takes days. Until then it is the one it was made of. */
export class MovableClock implements Clock {
  readonly #real: Clock;
  #offset = 0;
  /** Milliseconds that were skipped by {@link advance}. */
  #skipped = 0;
  #stoppedAt: number | undefined;

  constructor(real: Clock) {
    this.#real = real;
  }

  now(): number {
    return this.#stoppedAt ?? this.#real.now() + this.#offset;
  }

  /** Goes on while the clock is stopped, so that nobody who paces by it stands still. Only {@link advance} skips. */
  monotonic(): number {
    return this.#real.monotonic() + this.#skipped;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#real.sleep(milliseconds, signal);
  }

  get isFrozen(): boolean {
    return this.#stoppedAt !== undefined;
  }

  /** How far it is from the real one, milliseconds; negative = behind. The real clock is read once at most: it goes on between two reads. */
  get offsetMs(): number {
    return this.#stoppedAt === undefined ? this.#offset : this.#stoppedAt - this.#real.now();
  }

  get realNow(): number {
    return this.#real.now();
  }

  /** As if somebody set the clock on the wall: it stays stopped or goes on as before. */
  set(now: number): void {
    if (this.#stoppedAt === undefined) this.#offset = now - this.#real.now();
    else this.#stoppedAt = now;
  }

  /** As if so much time had gone by: also for what is counted by the second. */
  advance(milliseconds: number): void {
    if (this.#stoppedAt === undefined) this.#offset += milliseconds;
    else this.#stoppedAt += milliseconds;
    this.#skipped += milliseconds;
  }

  freeze(): void {
    this.#stoppedAt ??= this.now();
  }

  /** Goes on from where it was stopped. */
  resume(): void {
    const at = this.#stoppedAt;
    this.#stoppedAt = undefined;
    if (at !== undefined) this.set(at);
  }

  /** Back to the real time. */
  release(): void {
    this.#stoppedAt = undefined;
    this.#offset = 0;
  }
}
