import type { Config } from '../../config/config.ts';
import { Deliverer } from '../../delivery/deliverer.ts';
import type { Gateway } from '../../delivery/gateway.ts';
import { UsageWatch } from '../../delivery/usage-watch.ts';
import type { Logins } from '../compose.ts';

/** The active config with its resources. Each run keeps the config that it started with. */
export class ActiveConfig {
  readonly config: Config;
  readonly gateway: Gateway;
  readonly logins: Logins;
  readonly #runs = new Set<Promise<unknown>>();
  #deliverer: Deliverer;
  #usage: UsageWatch;

  constructor(given: { readonly config: Config; readonly gateway: Gateway; readonly logins: Logins }) {
    this.config = given.config;
    this.gateway = given.gateway;
    this.logins = given.logins;
    this.#deliverer = new Deliverer(given.gateway);
    this.#usage = new UsageWatch(given.gateway);
  }

  /** Starts delivery, or resumes delivery after {@link pause}. */
  deliver(): void {
    this.#deliverer.start();
  }

  /** Call this method after a new payload has become owed. */
  nudge(): void {
    this.#deliverer.nudge();
  }

  /** Stops delivery until {@link deliver} is called. Gives requests in progress a few seconds to finish. */
  async pause(): Promise<void> {
    await Promise.all([this.#deliverer.stop(), this.#usage.stop()]);
    this.#deliverer = new Deliverer(this.gateway);
    this.#usage = new UsageWatch(this.gateway);
  }

  /** Call this method after a request was charged to the account. */
  sent(account: string): void {
    this.#usage.look(account);
  }

  /**
   * Call this method after the service rate-limited the account, if it's unclear whether the limit per second or per
   * day was reached.
   */
  paused(account: string, refusals: number): void {
    this.#usage.doubt(account, refusals);
  }

  /** Tracks a run that uses this config's clients. */
  async follow<T>(run: Promise<T>): Promise<T> {
    this.#runs.add(run);
    try {
      return await run;
    } finally {
      this.#runs.delete(run);
    }
  }

  /** Closes the connections after the last run that uses this config has ended. Call {@link pause} first. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#runs);
    await Promise.all([this.gateway.close(), this.logins.close()]);
  }
}
