import type { Runtime } from '../compose.ts';
import type { ActiveConfig } from '../config/active-config.ts';
import { actAfterDelivery, mayAct } from './after-delivery.ts';

interface AfterDeliveriesOptions {
  readonly runtime: Runtime;
  readonly active: () => ActiveConfig;
  readonly fault: (message: string, error: unknown, facts: object) => void;
  /** Aborted when the daemon stops. */
  readonly stop: AbortSignal;
}

/** How long to wait for another process, in milliseconds. */
const busyWaitMs = 1_000;
/** The interval between two attempts after a failure, in milliseconds. The job's runs try it, too. */
const failureWaitMs = 900_000;

/**
 * Does what queries want done in their sources as soon as a payload has been delivered, and what an earlier process has
 * left to do. A run that delivers its own payload does it itself.
 */
export class AfterDeliveries {
  readonly #given: AfterDeliveriesOptions;
  /** The jobs that have something to do, with the function that ends their wait. */
  readonly #jobs = new Map<string, () => void>();

  constructor(given: AfterDeliveriesOptions) {
    this.#given = given;
    given.runtime.events.listen((...[name, facts]) => {
      if (name === 'payload.delivered') this.#look(facts.job);
    });
  }

  /** Looks for what earlier processes have left to do. */
  start(): void {
    for (const name of this.#given.active().config.jobs.keys()) this.#look(name);
  }

  #look(name: string): void {
    const active = this.#given.active();
    const job = active.config.jobs.get(name);
    if (job === undefined || !mayAct(job) || this.#given.stop.aborted) return;
    const wake = this.#jobs.get(name);
    if (wake !== undefined) {
      wake();
      return;
    }
    const work = this.#act(name).catch((error: unknown) =>
      this.#given.fault('failed to update a source after a delivery', error, { job: name }),
    );
    void work.finally(() => this.#jobs.delete(name));
  }

  async #act(name: string): Promise<void> {
    const { runtime, active, stop } = this.#given;
    for (;;) {
      const nap = new AbortController();
      this.#jobs.set(name, () => nap.abort('woken'));
      const now = active();
      const job = now.config.jobs.get(name);
      if (job === undefined || stop.aborted) return;
      const given = { runtime: { ...runtime, logins: now.logins }, config: now.config, job, signal: stop };
      const { isBusy = false, problem } = await now.follow(actAfterDelivery(given));
      if (!isBusy && problem === undefined && !nap.signal.aborted) return;
      const waitMs = isBusy ? busyWaitMs : failureWaitMs;
      await runtime.clock.sleep(waitMs, AbortSignal.any([stop, nap.signal])).catch(() => undefined);
    }
  }
}
