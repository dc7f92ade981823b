import type { MonitorAddress } from '../config/config.ts';
import type { Log } from '../lib/log.ts';
import type { Problem } from '../lib/problem.ts';
import type { SourceChecks } from './checks/source-checks.ts';
import type { Daemon } from './daemon.ts';
import type { Monitor, Pages } from './monitor/monitor.ts';
import type { Alarm } from './notice/alarm.ts';
import { type Beat, Pulse } from './pulse.ts';
import type { Systemd } from './systemd.ts';
import type { Runtime } from './wire.ts';

export interface WatchersGiven {
  readonly daemon: Daemon;
  readonly runtime: Runtime;
  readonly log: Log;
  readonly systemd: Systemd;
  /** Absent: nobody listens. */
  readonly monitor?: MonitorAddress;
  /** What the monitor shows to people; absent: nothing. */
  readonly pages?: Pages;
}

/** Everything that tells others how the daemon is: the pulse in the store, systemd, the monitor. */
export class Watchers {
  readonly #given: WatchersGiven;
  readonly #pulse: Pulse;
  readonly #systemd: Systemd;
  #monitor: Monitor | undefined;
  #remark: string | undefined;
  #alarm: Alarm | undefined;
  #checks: SourceChecks | undefined;

  private constructor(given: WatchersGiven) {
    const { daemon, runtime, systemd } = given;
    const { store, clock } = runtime;
    this.#given = given;
    const turned = ({ ticking, message }: Beat): void =>
      runtime.events.emit(ticking ? 'schedules.resumed' : 'schedules.stopped', { message });
    const writable = (problem: Problem | undefined): void => {
      if (problem === undefined) runtime.events.emit('state.writable', {});
      else runtime.events.emit('state.unwritable', toldOf(problem));
    };
    this.#pulse = new Pulse({ store, clock, ticking: () => daemon.ticking(), turned, writable });
    this.#systemd = systemd;
  }

  /** Before the daemon starts: a port that is taken ends it before a job fires. */
  static async open(given: WatchersGiven): Promise<Watchers> {
    const watchers = new Watchers(given);
    if (given.monitor !== undefined) await watchers.#listen(given.monitor);
    return watchers;
  }

  /** The daemon has started. `remark`: what the status of the service should say beside the number of jobs. */
  async started(remark?: string): Promise<void> {
    this.#remark = remark;
    await this.#pulse.write();
    this.#pulse.start();
    await this.#watchForPeople();
    await this.#watchSources({ probe: this.#given.daemon.config.onStartError === 'probe' });
    await this.#ready();
    this.#systemd.watch(() => this.#pulse.check().ticking);
  }

  /** Follows the exchange of the config: systemd hears when it begins and when it is over, whatever came of it. `work` resolves to a remark. */
  async reload(work: () => Promise<string | undefined>): Promise<void> {
    await this.#systemd.reloading();
    try {
      this.#remark = await work();
      this.#alarm?.look();
      await this.#watchForPeople();
      await this.#watchSources({ probe: false });
    } finally {
      await this.#ready();
    }
  }

  /** The daemon is about to stop. */
  async stopping(): Promise<void> {
    this.#pulse.stop();
    await Promise.all([this.#systemd.stopping(), this.#alarm?.stop(), this.#checks?.stop()]);
  }

  close(): void {
    this.#pulse.stop();
    void this.#alarm?.stop();
    void this.#checks?.stop();
    this.#monitor?.close();
  }

  #ready(): Promise<void> {
    return this.#systemd.ready(this.#given.daemon.config.jobs.size, this.#remark);
  }

  /** Loads what tells people when there is a config that wants it. */
  async #watchForPeople(): Promise<void> {
    const { daemon, runtime } = this.#given;
    if (this.#alarm !== undefined || daemon.config.alerts === undefined) return;
    const { Alarm } = await import('./notice/alarm.ts');
    this.#alarm = new Alarm({ runtime, config: () => daemon.config, beat: async () => this.#pulse.check() });
    this.#alarm.start();
  }

  /** Loads what looks at sources when there is one to look at. */
  async #watchSources({ probe }: { probe: boolean }): Promise<void> {
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
    const ticking = () => daemon.ticking();
    this.#monitor = new Monitor({ runtime, pulse: this.#pulse, config, ticking, pages });
    const { url } = await this.#monitor.listen(address);
    log.info('monitor.listening', { url });
  }
}

function toldOf({ code, message, seen, next }: Problem) {
  return { code, message, seen, next };
}
