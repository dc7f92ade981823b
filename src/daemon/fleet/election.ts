import type { Clock } from '../../lib/clock.ts';
import type { PlannerLock } from '../../state/engine/engine.ts';
import type { Lease } from '../../state/processes/leases.ts';
import type { Store } from '../../state/store.ts';
import { Poll } from './poll.ts';

/** How often each process checks who plans, in milliseconds. */
const lookMs = 500;

interface ElectionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly lock: PlannerLock;
  /** Starts planning under the lease. */
  readonly elected: (lease: Lease) => Promise<void>;
  /** Stops planning, because another process has taken the lease over. */
  readonly resigned: () => Promise<void>;
  readonly failed: (error: unknown) => void;
  /** Aborted when the process stops. */
  readonly stop: AbortSignal;
}

/**
 * Decides which process of a fleet plans: the one that holds the daemon's lease. Whatever a planner writes is checked
 * against the lease in the same transaction. The lock only speeds the election up: the server releases it as soon as
 * the planner's connection breaks, so the process that gets the lock takes the lease over. If the connection doesn't break, such
 * as because the network was cut, the lease is free once the planner's heartbeats have been missing for long enough.
 */
export class Election {
  readonly #options: ElectionOptions;
  readonly #poll: Poll;
  #lease: Lease | undefined;
  /** Whether this process has lost the lease while it held the lock. */
  #isSuperseded = false;

  constructor(options: ElectionOptions) {
    const { clock, failed, stop } = options;
    this.#options = options;
    this.#poll = new Poll({ clock, everyMs: lookMs, look: () => this.#vote(), failed, stop });
  }

  start(): void {
    this.#poll.start();
  }

  /** Gives up the lease and the lock, so that another process can plan. The caller must have stopped planning. */
  async close(): Promise<void> {
    await this.#poll.idle();
    await this.#lease?.release();
    this.#lease = undefined;
    await this.#options.lock.close();
  }

  async #vote(): Promise<void> {
    const { store, lock, elected, resigned } = this.#options;
    const hasLock = await lock.tryAcquire();
    if (this.#lease !== undefined) {
      if (await store.leases.isHeld(this.#lease)) return;
      this.#lease = undefined;
      this.#isSuperseded = hasLock;
      await resigned();
      return;
    }
    // This process was suspended, and a live one without the lock plans. It keeps the lease.
    const seizes = hasLock && !this.#isSuperseded;
    this.#lease = seizes ? await store.leases.seize('daemon') : await store.leases.take('daemon');
    if (!hasLock || this.#lease !== undefined) this.#isSuperseded = false;
    if (this.#lease === undefined) return;
    try {
      await elected(this.#lease);
    } catch (error) {
      await this.#lease.release();
      this.#lease = undefined;
      // Otherwise, this process would take the lease away again and again from one that can plan.
      await lock.close();
      throw error;
    }
  }
}
