import type { Config } from '../config/config.ts';
import { Deliverer } from '../delivery/deliverer.ts';
import type { Gateway } from '../delivery/gateway.ts';
import { UsageWatch } from '../delivery/usage-watch.ts';
import type { Logins } from './wire.ts';

/** A config that is in force, with what is open for it. Runs keep the one that they began with until they end. */
export class InForce {
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

  /** Begins to send what is owed; also again after {@link pause}. */
  deliver(): void {
    this.#deliverer.start();
  }

  /** Something new is owed. */
  nudge(): void {
    this.#deliverer.nudge();
  }

  /** Sends nothing more until {@link deliver}; requests under way get a few seconds. */
  async pause(): Promise<void> {
    await Promise.all([this.#deliverer.stop(), this.#usage.stop()]);
    this.#deliverer = new Deliverer(this.gateway);
    this.#usage = new UsageWatch(this.gateway);
  }

  /** A request went to this account. */
  sent(account: string): void {
    this.#usage.look(account);
  }

  /** The account is refused, and nobody knows whether that is for a second or for the day. */
  held(account: string, refusals: number): void {
    this.#usage.doubt(account, refusals);
  }

  /** Follows a run that goes through this gateway. */
  async follow<T>(run: Promise<T>): Promise<T> {
    this.#runs.add(run);
    try {
      return await run;
    } finally {
      this.#runs.delete(run);
    }
  }

  /** Closes the connections once the last run that began here has ended; pause it first. */
  async retire(): Promise<void> {
    await Promise.allSettled(this.#runs);
    await Promise.all([this.gateway.close(), this.logins.close()]);
  }
}
