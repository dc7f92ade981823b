import type { Clock } from '../../lib/clock.ts';

/** For so long after a good login others of the account need not wait for one another. */
const confirmedMs = 60_000;
/** Those that waited for one that found the server away go together: one after the other they would hold their places for long. */
const awayMs = 1000;

/**
 * Lets the logins of an account in this process go one at a time until one of them was accepted: of many jobs that begin together, one
 * finds out that the password is wrong.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #last = new Map<string, Promise<void>>();
  readonly #confirmed = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves to what ends the turn, at once if a login of this account was good a moment ago. Throws the signal's reason. */
  async take(account: string, signal: AbortSignal): Promise<() => void> {
    if (this.#isConfirmed(account)) return () => undefined;
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
    } catch (error) {
      end();
      throw error;
    }
    if (this.#isConfirmed(account)) end();
    return end;
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
