import type { Config } from '../config/config.ts';
import { build, commitText } from '../lib/build.ts';
import { showTimesIn } from '../lib/time-text.ts';
import type { Timer } from '../schedule/timer.ts';
import { startCacheSweep } from './cache-sweep.ts';
import { followAccounts, openGateway, openLogins, type Runtime } from './compose.ts';
import { ActiveConfig } from './config/active-config.ts';
import { FiringLoop } from './firing/firing-loop.ts';
import type { Ticking } from './firing/scheduler.ts';
import { startHistoryPruning } from './history-pruning.ts';
import { recoverInterrupted } from './run/recover-interrupted.ts';

export interface DaemonOptions {
  readonly runtime: Runtime;
  readonly config: Config;
  /** A timer that runs on a simulated clock. Default: a timer on the machine's clock. */
  readonly timer?: Timer;
}

/** What a daemon provides to work that a user requested. */
export interface Lent {
  readonly config: Config;
  /** The daemon's runtime, with the clients for this config. */
  readonly runtime: Runtime;
  /** Aborted when the daemon stops. */
  readonly stopping: AbortSignal;
}

/**
 * The long-running process. It fires jobs when they're due, delivers their payloads, and activates a new config all or
 * nothing. It can be killed at any time, because all of its data is in the store.
 */
export class Daemon {
  readonly #runtime: Runtime;
  readonly #firings: FiringLoop;
  readonly #stop = new AbortController();
  /** Previous configs whose runs are still in progress. */
  readonly #retiring = new Set<Promise<void>>();
  #now: ActiveConfig;
  /** Serializes config changes. */
  #adopting: Promise<void> = Promise.resolve();

  constructor({ runtime, config, timer }: DaemonOptions) {
    this.#runtime = runtime;
    this.#now = new ActiveConfig({ config, gateway: runtime.gateway, logins: runtime.logins });
    this.#firings = new FiringLoop({
      ...{ runtime, timer, stop: this.#stop.signal },
      active: () => this.#now,
      fault: (...fault) => this.#fault(...fault),
    });
    runtime.events.listen((...[name, facts]) => {
      if (name === 'request.sent') this.#now.sent(facts.account);
      if (name === 'account.paused') this.#now.paused(facts.account, facts.refusals);
      if (name === 'source.answered') this.#firings.answered(facts.source);
    });
    startCacheSweep(runtime);
    startHistoryPruning(runtime);
    const { signal: exchanged } = runtime.installation ?? {};
    exchanged?.addEventListener('abort', () => this.#stop.abort(exchanged.reason), { once: true });
  }

  /**
   * Resumes the schedules, sends owed payloads and catches up on missed firings. Adds the facts in `told` to the log
   * line.
   */
  async start(told: { readonly config_sha256?: string } = {}): Promise<void> {
    const { config } = this.#now;
    await recoverInterrupted(config.jobs, this.#runtime);
    const scheduled = await this.#firings.load(config);
    const owed = (await this.#runtime.store.outbox.inState('owed')).length;
    this.#runtime.events.emit('daemon.started', {
      version: build.version,
      commit: commitText,
      node: process.version,
      pid: process.pid,
      ...told,
      jobs: config.jobs.size,
      scheduled,
      owed,
    });
    await this.#sayStranded();
    this.#now.deliver();
    this.#firings.start();
  }

  /**
   * Activates a new config, all or nothing: schedules, jobs, destinations. If activation fails, the previous config
   * stays active. Runs in progress keep the config that they started with. Callers must make sure that the new config
   * has the same state folder, because the folder can't change while the daemon runs.
   */
  adopt(config: Config): Promise<void> {
    const adopted = this.#adopting.then(() => this.#adopt(config));
    this.#adopting = adopted.catch(() => undefined);
    return adopted;
  }

  /** The active config. */
  get config(): Config {
    return this.#now.config;
  }

  /**
   * Runs work that a user requested with the active config, which stays usable until the work ends. Tries credentials
   * again even if the service has refused them, like a new process would.
   */
  async lend<T>(work: (lent: Lent) => Promise<T>): Promise<T> {
    const active = this.#now;
    const { config, gateway, logins } = active;
    gateway.resetAuth();
    const runtime = { ...this.#runtime, gateway, logins };
    return active.follow(work({ config, runtime, stopping: this.#stop.signal }));
  }

  /** The current state of the scheduler. */
  ticking(): Ticking {
    return this.#firings.ticking();
  }

  /**
   * Stops within a few seconds. Cancels the extracts in progress, which run again after the next start. Owed payloads
   * remain owed.
   */
  async stop(reason: string): Promise<void> {
    this.#runtime.events.emit('daemon.stopping', { reason });
    this.#firings.stop();
    this.#stop.abort(new Error(reason));
    await this.#adopting;
    await Promise.all([this.#now.pause(), this.#firings.idle()]);
    await Promise.all([this.#now.drain(), ...this.#retiring]);
  }

  async #adopt(config: Config): Promise<void> {
    const { events } = this.#runtime;
    const old = this.#now;
    await old.pause();
    if (this.#stop.signal.aborted) return;
    let next: ActiveConfig | undefined;
    try {
      next = await this.#open(config);
      await this.#firings.adopt(config);
    } catch (error) {
      await next?.drain();
      old.deliver();
      throw error;
    }
    this.#now = next;
    showTimesIn(config.timezone);
    this.#retire(old);
    if (this.#stop.signal.aborted) return;
    this.#now.deliver();
    events.emit('config.reloaded', { file: config.file, jobs: config.jobs.size });
    await this.#sayStranded();
    this.#firings.resume(config);
  }

  async #open(config: Config): Promise<ActiveConfig> {
    const { store, events, clock } = this.#runtime;
    // If another process already uses the new keys, requests that it has sent since then also count.
    await followAccounts(this.#runtime, this.#now.config);
    const gateway = await openGateway({ store, events, clock, config });
    return new ActiveConfig({ config, gateway, logins: await openLogins({ store, events, clock, config }) });
  }

  #retire(old: ActiveConfig): void {
    const retired = old
      .drain()
      .catch((error: unknown) => this.#fault('failed to release the previous config', error))
      .finally(() => this.#retiring.delete(retired));
    this.#retiring.add(retired);
  }

  /** Warns about payloads for destinations that are no longer in the config. The payloads remain owed. */
  async #sayStranded(): Promise<void> {
    const { store, events } = this.#runtime;
    const owed = await store.outbox.inState('owed');
    const stranded = owed.filter(({ destination }) => !this.#now.config.destinations.has(destination));
    for (const [destination, rows] of Map.groupBy(stranded, (row) => row.destination)) {
      events.emit('config.stranded', { destination, payloads: rows.length });
    }
  }

  #fault(message: string, error: unknown, facts: object = {}): void {
    // If the installed package was replaced, the error is a result of that, and the daemon is shutting down.
    if (this.#runtime.installation?.look()) return;
    this.#runtime.log.error(message, { ...facts, error: String(error) });
  }
}
