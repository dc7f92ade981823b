import type { Clock } from '../../lib/clock.ts';
import { isUnwritable } from './state-problem.ts';

/** A disk that took no writes is tried again after this. */
const retryMs = 2_000;

/**
 * Writes that must be made, whatever the disk does now: they give back what this process holds. One that a full, failing
 * or read-only disk refuses is repeated until it succeeds, so each of them must be harmless when it is made twice.
 */
export class PendingWrites {
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #pending = new Map<string, () => Promise<unknown>>();
  #isRetrying = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True while the write of this id has still to be made. */
  has(id: string): boolean {
    return this.#pending.has(id);
  }

  /** Makes the write, now or later. Rejects only with what is not the fault of the disk. */
  async settle(id: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      this.#pending.set(id, write);
      void this.#retry();
    }
  }

  /** Tries again, then gives up: the pending writes end with the process. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#flush().catch(() => undefined);
  }

  async #retry(): Promise<void> {
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    const { signal } = this.#stop;
    while (this.#pending.size > 0 && !signal.aborted) {
      await this.#clock.sleep(retryMs, signal).catch(() => undefined);
      if (!signal.aborted) await this.#flush().catch(() => undefined);
    }
    this.#isRetrying = false;
  }

  async #flush(): Promise<void> {
    for (const [id, write] of this.#pending) {
      try {
        await write();
      } catch (error) {
        if (isUnwritable(error)) throw error;
      }
      this.#pending.delete(id);
    }
  }
}
