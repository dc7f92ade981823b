import type { Clock } from '../../lib/clock.ts';
import { isUnwritable } from '../../state/engine/state-problem.ts';
import type { Lease } from '../../state/processes/leases.ts';
import type { Store } from '../../state/store.ts';

/** For so long after a good login others of the account need not wait for one another. */
const confirmedMs = 60_000;
/** Those that waited for one that found the server away go together: one after the other they would hold their places for long. */
const awayMs = 1000;
/** Another process whose login takes longer is not waited for. */
const otherMs = 30_000;

export interface TurnsOptions {
  readonly store: Pick<Store, 'leases'>;
  readonly clock: Clock;
}

/**
 * Lets the logins of an account go one at a time until one of them was accepted: of many jobs that begin together, in this process
 * and in others on the same state, one finds out that the password is wrong.
 */
export class Turns {
  readonly #leases: Store['leases'];
  readonly #clock: Clock;
  readonly #last = new Map<string, Promise<void>>();
  readonly #confirmed = new Map<string, number>();

  constructor({ store, clock }: TurnsOptions) {
    this.#leases = store.leases;
    this.#clock = clock;
  }

  /** Resolves to what ends the turn; undefined if a login of this account was good a moment ago. Throws the signal's reason. */
  async take(account: string, signal: AbortSignal): Promise<(() => Promise<void>) | undefined> {
    if (this.#isConfirmed(account)) return undefined;
    const before = this.#last.get(account);
    const { promise, resolve } = Promise.withResolvers<void>();
    const mine = (before ?? Promise.resolve()).then(() => promise);
    this.#last.set(account, mine);
    const end = (): void => {
      resolve();
      if (this.#last.get(account) === mine) this.#last.delete(account);
    };
    try {
      if (before !== undefined) await untilAborted(before, signal);
      if (!this.#isConfirmed(account)) {
        const lease = await this.#lease(account, signal);
        return async () => {
          await lease?.release();
          end();
        };
      }
    } catch (error) {
      end();
      throw error;
    }
    end();
    return undefined;
  }

  confirm(account: string): void {
    this.#confirmed.set(account, this.#clock.monotonic() + confirmedMs);
  }

  /** An attempt did not come to the login. */
  away(account: string): void {
    this.#confirmed.set(account, this.#clock.monotonic() + awayMs);
  }

  doubt(account: string): void {
    this.#confirmed.delete(account);
  }

  /** Keeps other processes waiting; undefined if one of them takes too long, or the state takes no writes. */
  async #lease(account: string, signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return await this.#leases.wait(`account:${account}`, { forMs: otherMs, signal });
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      return undefined;
    }
  }

  #isConfirmed(account: string): boolean {
    return this.#clock.monotonic() < (this.#confirmed.get(account) ?? Number.NEGATIVE_INFINITY);
  }
}

async function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
