import type { Config } from '../config/config.ts';
import { readJobsOf } from '../config/read-jobs.ts';
import { build, commitText } from '../lib/build.ts';
import { showTimesIn } from '../lib/time-text.ts';
import type { Timer } from '../schedule/timer.ts';
import { isLeaseLost } from '../state/processes/leases.ts';
import { recover } from '../state/recover.ts';
import type { OutboxRow } from '../state/tables.ts';
import { startCacheSweep } from './cache-sweep.ts';
import { followAccounts, openGateway, openLogins, type Runtime } from './compose.ts';
import { ActiveConfig } from './config/active-config.ts';
import { FiringLoop } from './firing/firing-loop.ts';
import type { Ticking } from './firing/scheduler.ts';
import { endFormerRuns } from './fleet/dead-runs.ts';
import { Fleet, type FleetSettings, type PlannerTerm } from './fleet/fleet.ts';
import { startHistoryPruning } from './history-pruning.ts';
import { AfterDeliveries } from './run/after-deliveries.ts';
import { recoverInterrupted } from './run/recover-interrupted.ts';

export interface DaemonOptions {
  readonly runtime: Runtime;
  readonly config: Config;
  /** A timer that runs on a simulated clock. Default: a timer on the machine's clock. */
  readonly timer?: Timer;
  /** Absent if the state is in a folder. This process then is its only daemon. */
  readonly fleet?: FleetSettings | undefined;
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
  readonly #timer: Timer | undefined;
  readonly #fleet: Fleet | undefined;
  /** Undefined while another process of the fleet plans. */
  #firings: FiringLoop | undefined;
  readonly #stop = new AbortController();
  readonly #afterDeliveries: AfterDeliveries;
  /** Previous configs whose runs are still in progress. */
  readonly #retiring = new Set<Promise<void>>();
  #now: ActiveConfig;
  /** Serializes config changes. */
  #adopting: Promise<void> = Promise.resolve();

  constructor({ runtime, config, timer, fleet }: DaemonOptions) {
    this.#runtime = runtime;
    this.#now = new ActiveConfig({ config, gateway: runtime.gateway, logins: runtime.logins });
    this.#timer = timer;
    if (fleet === undefined) this.#firings = this.#firingLoop();
    else this.#fleet = this.#joinFleet(fleet);
    runtime.events.listen((...[name, facts]) => {
      if (name === 'request.sent') this.#now.sent(facts.account);
      if (name === 'account.paused') this.#now.paused(facts.account, facts.refusals);
      if (name === 'source.answered') this.#firings?.answered(facts.source);
    });
    this.#afterDeliveries = new AfterDeliveries({
      ...{ runtime, stop: this.#stop.signal },
      active: () => this.#now,
      fault: (...fault) => this.#fault(...fault),
    });
    startCacheSweep(runtime);
    startHistoryPruning(runtime, () => this.#firings !== undefined);
    const { signal: exchanged } = runtime.installation ?? {};
    exchanged?.addEventListener('abort', () => this.#stop.abort(exchanged.reason), { once: true });
  }

  /**
   * Resumes the schedules, sends owed payloads and catches up on missed firings. Adds `facts` to the log line.
   */
  async start(facts: { readonly config_sha256?: string } = {}): Promise<void> {
    const { config } = this.#now;
    const firings = this.#firings;
    const scheduled = firings === undefined ? scheduledIn(config) : await this.#load(firings);
    const owed = await this.#runtime.store.outbox.inState('owed');
    this.#runtime.events.emit('daemon.started', {
      version: build.version,
      commit: commitText,
      node: process.version,
      pid: process.pid,
      ...facts,
      jobs: config.jobs.size,
      scheduled,
      owed: owed.length,
    });
    this.#sayStranded(owed);
    this.#now.deliver();
    this.#afterDeliveries.start();
    firings?.start();
    this.#fleet?.start();
  }

  /**
   * Activates a new config, all or nothing: schedules, jobs, destinations. If activation fails, the previous config
   * stays active. Runs in progress keep the config that they started with. Callers must make sure that the new config
   * has the same state folder, because the folder can't change while the daemon runs. `hash` identifies the config
   * among the processes of a fleet.
   */
  adopt(config: Config, hash = ''): Promise<void> {
    return this.#inTurn(() => this.#adopt(config, hash));
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#adopting.then(work);
    this.#adopting = done.catch(() => undefined);
    await done;
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

  /** The current state of the scheduler. Undefined while another process of the fleet plans. */
  ticking(): Ticking | undefined {
    return this.#firings?.ticking();
  }

  /**
   * Stops within a few seconds. Cancels the extracts in progress, which run again after the next start. Owed payloads
   * remain owed.
   */
  async stop(reason: string): Promise<void> {
    this.#runtime.events.emit('daemon.stopping', { reason });
    this.#firings?.stop();
    this.#stop.abort(new Error(reason));
    await this.#adopting;
    await Promise.all([this.#now.pause(), this.#stopPlanning().then(() => this.#fleet?.close())]);
    await Promise.all([this.#now.drain(), ...this.#retiring]);
  }

  #firingLoop(term?: PlannerTerm): FiringLoop {
    return new FiringLoop({
      ...{ runtime: this.#runtime, timer: this.#timer, stop: term?.signal ?? this.#stop.signal, fleet: term },
      active: () => this.#now,
      fault: (...fault) => this.#fault(...fault),
    });
  }

  #joinFleet(settings: FleetSettings): Fleet {
    return new Fleet({
      ...settings,
      runtime: this.#runtime,
      active: () => this.#now,
      plan: (term) => this.#inTurn(() => this.#plan(term)),
      resign: () => this.#inTurn(() => this.#stopPlanning()),
      fault: (...fault) => this.#fault(...fault),
      stop: this.#stop.signal,
    });
  }

  async #load(firings: FiringLoop): Promise<number> {
    const { config } = this.#now;
    await recoverInterrupted(config.jobs, this.#runtime);
    return firings.load(config);
  }

  async #plan(term: PlannerTerm): Promise<void> {
    if (term.signal.aborted) return;
    // Recovers whatever the previous planner left incomplete.
    await endFormerRuns({ store: this.#runtime.store, lease: term.lease });
    const { suspects } = await recover(this.#runtime.store);
    for (const job of suspects) this.#runtime.healed.suspects.add(job);
    const firings = this.#firingLoop(term);
    await this.#load(firings);
    firings.start();
    this.#firings = firings;
  }

  async #stopPlanning(): Promise<void> {
    this.#firings?.stop();
    await this.#firings?.idle();
    if (this.#fleet !== undefined) this.#firings = undefined;
  }

  async #adopt(config: Config, hash: string): Promise<void> {
    const { events } = this.#runtime;
    const old = this.#now;
    await old.pause();
    if (this.#stop.signal.aborted) return;
    let next: ActiveConfig | undefined;
    try {
      next = await this.#open(config);
      this.#fleet?.adopt(hash);
      await this.#firings?.adopt(config).catch(unlessLeaseLost);
    } catch (error) {
      await next?.drain();
      old.deliver();
      throw error;
    }
    this.#now = next;
    this.#runtime.store.keepRowsOf(readJobsOf(config));
    showTimesIn(config.timezone);
    this.#retire(old);
    if (this.#stop.signal.aborted) return;
    this.#now.deliver();
    events.emit('config.reloaded', { file: config.file, jobs: config.jobs.size });
    this.#sayStranded(await this.#runtime.store.outbox.inState('owed'));
    this.#firings?.resume(config);
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
  #sayStranded(owed: readonly OutboxRow[]): void {
    const { events } = this.#runtime;
    const stranded = owed.filter(({ destination }) => !this.#now.config.destinations.has(destination));
    for (const [destination, rows] of Map.groupBy(stranded, (row) => row.destination)) {
      events.emit('config.stranded', { destination, payloads: rows.length });
    }
  }

  #fault(message: string, error: unknown, facts: object = {}): void {
    // If the installed package was replaced, the error is a result of that, and the daemon is shutting down.
    if (this.#runtime.installation?.look()) return;
    // Another process plans now, and has what this one couldn't record. The log says so once (`fleet.resigned`).
    if (isLeaseLost(error)) return;
    this.#runtime.log.error(message, { ...facts, error: String(error) });
  }
}

/** If another process plans now, this one needs no schedules. */
function unlessLeaseLost(error: unknown): void {
  if (!isLeaseLost(error)) throw error;
}

const scheduledIn = ({ jobs }: Config): number =>
  [...jobs.values()].filter(({ schedule, enabled }) => schedule !== undefined && enabled).length;
