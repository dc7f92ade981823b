import type { MonitorAddress } from '../config/config.ts';
import type { Log } from '../lib/log.ts';
import type { Problem } from '../lib/problem.ts';
import type { AlertLoop } from './alerting/alert-loop.ts';
import type { SourceChecks } from './checks/source-checks.ts';
import type { Runtime } from './compose.ts';
import type { Daemon } from './daemon.ts';
import type { Monitor, Pages } from './monitor/monitor.ts';
import { Heartbeat, type Liveness } from './process/heartbeat.ts';
import type { Systemd } from './process/systemd.ts';

export interface MonitoringOptions {
  readonly daemon: Daemon;
  readonly runtime: Runtime;
  readonly log: Log;
  readonly systemd: Systemd;
  /** Absent if the monitor is disabled. */
  readonly monitor?: MonitorAddress;
  /** The status pages. Absent if they aren't served. */
  readonly pages?: Pages;
}

/**
 * Everything that reports the daemon's health: the heartbeat in the store, systemd notifications, alerts and the
 * monitor.
 */
export class Monitoring {
  readonly #given: MonitoringOptions;
  readonly #heartbeat: Heartbeat;
  readonly #systemd: Systemd;
  #monitor: Monitor | undefined;
  #note: string | undefined;
  #alerts: AlertLoop | undefined;
  #isStarted = false;
  #checks: SourceChecks | undefined;

  private constructor(given: MonitoringOptions) {
    const { daemon, runtime, systemd } = given;
    const { store, clock } = runtime;
    this.#given = given;
    const turned = ({ ticking, message }: Liveness): void =>
      runtime.events.emit(ticking ? 'schedules.resumed' : 'schedules.stopped', { message });
    const writable = (problem: Problem | undefined): void => {
      if (problem === undefined) runtime.events.emit('state.writable', {});
      else runtime.events.emit('state.unwritable', factsOf(problem));
    };
    this.#heartbeat = new Heartbeat({
      store,
      clock,
      ticking: () => daemon.ticking(),
      onChange: turned,
      onWritable: writable,
    });
    this.#systemd = systemd;
    runtime.events.listen((...[name]) => {
      if (name === 'fleet.planning') void this.#startWatching({ probe: false });
      if (name === 'fleet.resigned') void this.#stopWatching();
    });
  }

  /** Must be called before the daemon starts, so that a port in use makes the start fail before any job fires. */
  static async open(given: MonitoringOptions): Promise<Monitoring> {
    const monitoring = new Monitoring(given);
    if (given.monitor !== undefined) await monitoring.#listen(given.monitor);
    return monitoring;
  }

  /**
   * Must be called when the daemon has started. `note` is additional text for the systemd status, which also shows the
   * number of jobs.
   */
  async started(note?: string): Promise<void> {
    this.#note = note;
    await this.#heartbeat.write();
    this.#heartbeat.start();
    this.#isStarted = true;
    await this.#startWatching({ probe: this.#given.daemon.config.onStartError === 'probe' });
    await this.#ready();
    this.#systemd.watch(() => this.#heartbeat.check().ticking);
  }

  /**
   * Wraps a config reload: notifies systemd when the reload starts and when it ends, even if it fails. `work` resolves
   * to a note for the systemd status.
   */
  async reload(work: () => Promise<string | undefined>): Promise<void> {
    await this.#systemd.reloading();
    try {
      this.#note = await work();
      this.#alerts?.scanNow();
      await this.#startWatching({ probe: false });
    } finally {
      await this.#ready();
    }
  }

  /** Must be called before the daemon stops. */
  async stopping(): Promise<void> {
    this.#heartbeat.stop();
    await Promise.all([this.#systemd.stopping(), this.#stopWatching()]);
  }

  close(): void {
    this.#heartbeat.stop();
    void this.#stopWatching();
    this.#monitor?.close();
  }

  #ready(): Promise<void> {
    return this.#systemd.ready(this.#given.daemon.config.jobs.size, this.#note);
  }

  /** Only the process that plans sends alerts and checks sources. */
  async #startWatching(options: { probe: boolean }): Promise<void> {
    if (!this.#isStarted || this.#given.daemon.ticking() === undefined) return;
    await this.#startAlerts();
    await this.#startSourceChecks(options);
  }

  async #stopWatching(): Promise<void> {
    const watching = [this.#alerts?.stop(), this.#checks?.stop()];
    this.#alerts = undefined;
    this.#checks = undefined;
    await Promise.all(watching);
  }

  /** Loads the alerting code only if the config has alert settings. */
  async #startAlerts(): Promise<void> {
    const { daemon, runtime } = this.#given;
    if (this.#alerts !== undefined || daemon.config.alerts === undefined) return;
    const { AlertLoop } = await import('./alerting/alert-loop.ts');
    this.#alerts = new AlertLoop({
      runtime,
      config: () => daemon.config,
      liveness: async () => this.#heartbeat.check(),
    });
    this.#alerts.start();
  }

  /** Loads the code for source checks only if checks are enabled for at least one source. */
  async #startSourceChecks({ probe }: { probe: boolean }): Promise<void> {
    const { daemon, runtime } = this.#given;
    const config = () => daemon.config;
    const isWanted = probe || [...config().sources.values()].some(({ checkEveryMs }) => checkEveryMs !== undefined);
    if (this.#checks !== undefined || !isWanted) return;
    const { SourceChecks } = await import('./checks/source-checks.ts');
    this.#checks = new SourceChecks({ runtime, config });
    this.#checks.start({ probe });
  }

  async #listen(address: MonitorAddress): Promise<void> {
    const { daemon, runtime, log, pages = async () => undefined } = this.#given;
    const { Monitor } = await import('./monitor/monitor.ts');
    const config = () => daemon.config;
    const ticking = () => daemon.ticking() ?? notTicking;
    this.#monitor = new Monitor({ runtime, heartbeat: this.#heartbeat, config, ticking, pages });
    const { url } = await this.#monitor.listen(address);
    log.info('monitor.listening', { url });
  }
}

const notTicking = { silence: undefined, overdue: 0, scheduled: 0 };

function factsOf({ code, message, seen, next }: Problem) {
  return { code, message, seen, next };
}
