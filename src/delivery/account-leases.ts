import type { Lease } from '../state/processes/leases.ts';
import type { Store } from '../state/store.ts';

/** After this time without anything to send, an account is left to other processes. */
const idleMs = 5_000;
/** Interval at which to try again to get an account that another process has, in case it dies. */
const tryAgainMs = 2_000;

/** Returns the name of the lease of the process that sends to an account. */
export const senderLease = (account: string): string => `sender:${account}`;

interface HeldAccount {
  readonly lease: Lease;
  usedAt: number;
}

/**
 * The accounts that this process sends to. If several machines share a state, only one process at a time sends to each
 * account. Otherwise, the processes would spend their time waiting for each other's locks and looking for a free slot.
 * These leases only make sending faster: without a lease, such as in a `sync`, the slots still enforce the limits.
 */
export class AccountLeases {
  readonly #store: Pick<Store, 'leases' | 'clock'>;
  readonly #held = new Map<string, HeldAccount>();
  /** When to try again to get an account, in monotonic milliseconds. */
  readonly #tryAt = new Map<string, number>();

  constructor(store: Pick<Store, 'leases' | 'clock'>) {
    this.#store = store;
  }

  /** Returns whether this process may send to the account now. Call it again while it does. */
  async hold(account: string): Promise<boolean> {
    const now = this.#store.clock.monotonic();
    const held = this.#held.get(account);
    if (held !== undefined) {
      held.usedAt = now;
      return true;
    }
    if (now < (this.#tryAt.get(account) ?? 0)) return false;
    const lease = await this.#store.leases.take(senderLease(account));
    if (lease === undefined) this.#tryAt.set(account, now + tryAgainMs);
    else this.#held.set(account, { lease, usedAt: now });
    return lease !== undefined;
  }

  /** Leaves the accounts that have had nothing to send for a while to other processes. */
  async leaveIdle(): Promise<void> {
    await this.#leave(this.#store.clock.monotonic() - idleMs);
  }

  /** Returns whether this process has an account. */
  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /** Leaves all accounts to other processes. */
  async close(): Promise<void> {
    await this.#leave(Number.POSITIVE_INFINITY);
  }

  async #leave(before: number): Promise<void> {
    const left = [...this.#held].filter(([, { usedAt }]) => usedAt <= before);
    for (const [account] of left) this.#held.delete(account);
    await Promise.all(left.map(([, { lease }]) => lease.release()));
  }
}
