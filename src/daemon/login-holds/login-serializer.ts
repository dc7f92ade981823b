import type { Clock } from '../../lib/clock.ts';
import { isUnwritable } from '../../state/engine/state-problem.ts';
import type { Lease } from '../../state/processes/leases.ts';
import type { Store } from '../../state/store.ts';

/** After a successful login, other logins to the same account may run in parallel for this long. */
const confirmedMs = 60_000;
/**
 * If the server didn't say whether the secret is valid, waiting logins may run in parallel for this long. One timeout
 * after another would take too long.
 */
const unansweredMs = 1000;
/** Maximum time to wait for a login in another process. */
const otherMs = 30_000;

export interface Secret {
  readonly account: string;
  /** Distinguishes this secret from the account's other secrets. */
  readonly fingerprint: string;
}

export interface AcquireOptions {
  readonly signal: AbortSignal;
  /** Maximum time to wait for other logins in this process. If absent, the time is unlimited. */
  readonly forMs?: number | undefined;
}

export interface LoginSerializerOptions {
  readonly store: Pick<Store, 'leases'>;
  readonly clock: Clock;
}

/**
 * Serializes the logins to an account until one succeeds, across all processes that use the same state. If many jobs
 * start at once with a wrong password, the password is sent only once.
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

  /**
   * Resolves to a release function, or to undefined if the secret was accepted recently or `forMs` has passed. Throws
   * the signal's reason if aborted.
   */
  async acquire(secret: Secret, { signal, forMs }: AcquireOptions): Promise<(() => Promise<void>) | undefined> {
    if (this.#isConfirmed(secret)) return undefined;
    const { account } = secret;
    const before = this.#last.get(account);
    const { promise, resolve } = Promise.withResolvers<void>();
    const mine = (before ?? Promise.resolve()).then(() => promise);
    this.#last.set(account, mine);
    const end = (): void => {
      resolve();
      if (this.#last.get(account) === mine) this.#last.delete(account);
    };
    try {
      const isNext = before === undefined || (await this.#isOver(before, { signal, forMs }));
      if (isNext && !this.#isConfirmed(secret)) {
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

  confirm(secret: Secret): void {
    this.#confirmed.set(nameOf(secret), this.#clock.monotonic() + confirmedMs);
  }

  /** The server's response didn't show whether the secret is valid. */
  unanswered(secret: Secret): void {
    const name = nameOf(secret);
    const until = this.#clock.monotonic() + unansweredMs;
    this.#confirmed.set(name, Math.max(until, this.#confirmed.get(name) ?? until));
  }

  doubt(secret: Secret): void {
    this.#confirmed.delete(nameOf(secret));
  }

  /** Waits for earlier logins. Returns false if they take too long. */
  async #isOver(before: Promise<void>, { signal, forMs }: AcquireOptions): Promise<boolean> {
    signal.throwIfAborted();
    const enough = new AbortController();
    const either = AbortSignal.any([signal, enough.signal]);
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    either.addEventListener('abort', () => reject(either.reason), { once: true });
    stopped.catch(() => undefined);
    const late = forMs === undefined ? [] : [this.#clock.sleep(forMs, either).then(() => false)];
    try {
      return await Promise.race([before.then(() => true), stopped, ...late]);
    } finally {
      enough.abort();
    }
  }

  /**
   * Prevents logins in other processes. Resolves to undefined if another process takes too long or the state isn't
   * writable.
   */
  async #lease(account: string, signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return await this.#leases.wait(`account:${account}`, { forMs: otherMs, signal });
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      return undefined;
    }
  }

  #isConfirmed(secret: Secret): boolean {
    return this.#clock.monotonic() < (this.#confirmed.get(nameOf(secret)) ?? Number.NEGATIVE_INFINITY);
  }
}

const nameOf = ({ account, fingerprint }: Secret): string => JSON.stringify([account, fingerprint]);
