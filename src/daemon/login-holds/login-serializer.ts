import type { Clock } from '../../lib/clock.ts';
import { isUnwritable } from '../../state/engine/state-problem.ts';
import type { Lease } from '../../state/processes/leases.ts';
import type { Store } from '../../state/store.ts';

/** After a successful login, other logins of the account run in parallel for this long. */
const confirmedMs = 60_000;
/** If a login found the server unreachable, the waiting ones run in parallel: serialized timeouts would take too long. */
const awayMs = 1000;
/** Maximum wait for a login in another process. */
const otherMs = 30_000;

export interface LoginSerializerOptions {
  readonly store: Pick<Store, 'leases'>;
  readonly clock: Clock;
}

/**
 * Serializes the logins of an account until one succeeds: if many jobs start together, in this process and in others on the
 * same state, only one finds out that the password is wrong.
 */
export class LoginSerializer {
  readonly #leases: Store['leases'];
  readonly #clock: Clock;
  readonly #last = new Map<string, Promise<void>>();
  readonly #confirmed = new Map<string, number>();

  constructor({ store, clock }: LoginSerializerOptions) {
    this.#leases = store.leases;
    this.#clock = clock;
  }

  /** Resolves to a release function; undefined if a login of this account succeeded recently. Throws the signal's reason. */
  async acquire(account: string, signal: AbortSignal): Promise<(() => Promise<void>) | undefined> {
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

  /** The server was unreachable, so there was no login. */
  unreachable(account: string): void {
    this.#confirmed.set(account, this.#clock.monotonic() + awayMs);
  }

  doubt(account: string): void {
    this.#confirmed.delete(account);
  }

  /** Locks out other processes; undefined if one of them takes too long, or the state isn't writable. */
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
