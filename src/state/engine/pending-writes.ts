import type { Clock } from '../../lib/clock.ts';
import { isUnwritable } from './state-problem.ts';

/** Time between two attempts after the disk has rejected a write. */
const retryMs = 2_000;

/**
 * Writes that must eventually succeed, because they release resources that this process holds. If the disk is full,
 * failing or read-only, a write is repeated until it succeeds. Each write must therefore be idempotent.
 */
export class PendingWrites {
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #pending = new Map<string, () => Promise<unknown>>();
  #isRetrying = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns whether the write with this ID is still pending. */
  has(id: string): boolean {
    return this.#pending.has(id);
  }

  /**
   * Writes now. If the disk rejects the write, retries it in the background. Throws only errors that the disk didn't
   * cause.
   */
  async settle(id: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      this.add(id, write);
    }
  }

  /** Writes later, in the background. */
  add(id: string, write: () => Promise<unknown>): void {
    this.#pending.set(id, write);
    void this.#retry();
  }

  /** Tries all pending writes now. Throws the disk's error if it rejects one of them. */
  async flush(): Promise<void> {
    for (const [id, write] of this.#pending) {
      try {
        await write();
      } catch (error) {
        if (isUnwritable(error)) throw error;
      }
      this.#pending.delete(id);
    }
  }

  /** Tries the pending writes one last time. Writes that still fail are lost when the process ends. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.flush().catch(() => undefined);
  }

  async #retry(): Promise<void> {
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    const { signal } = this.#stop;
    while (this.#pending.size > 0 && !signal.aborted) {
      await this.#clock.sleep(retryMs, signal).catch(() => undefined);
      if (!signal.aborted) await this.flush().catch(() => undefined);
    }
    this.#isRetrying = false;
  }
}
