import { Gauge, type Registry } from 'prom-client';
import type { Config } from '../../config/config.ts';
import { acceptsAlerts, occasions } from '../../config/options/alerts.ts';
import { bytesOf } from '../../kept-rows/manifest.ts';
import type { Clock } from '../../lib/clock.ts';
import { diskUsageKinds } from '../../state/disk-usage.ts';
import type { Store } from '../../state/store.ts';
import { readChecks } from '../checks/check-results.ts';
import { type Condition, conditionKinds, conditionLevels } from '../conditions/condition.ts';
import type { Ticking } from '../firing/scheduler.ts';
import type { Heartbeat } from '../process/heartbeat.ts';
import { reportAccounts } from '../report/report-accounts.ts';
import { DiskWatch } from '../report/report-disk.ts';
import { reportProcesses, reportQueue } from '../report/report-processes.ts';
import { Names } from './labels.ts';

export interface GaugesOptions {
  readonly registry: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly config: () => Config;
  readonly ticking: () => Ticking;
  readonly heartbeat: Heartbeat;
  /** Reads the current conditions. */
  readonly conditions: () => Promise<readonly Condition[]>;
}

/** Gauges for the current state of the store and the schedules. They're read at scrape time. */
export class Gauges {
  readonly #given: GaugesOptions;
  readonly #accounts = new Names();
  readonly #destinations = new Names();
  readonly #jobs = new Names();
  readonly #depth;
  readonly #bytes;
  readonly #oldest;
  readonly #allowance;
  readonly #left;
  readonly #others;
  readonly #turn;
  readonly #kept;
  readonly #keptBytes;
  readonly #disk = new DiskWatch();
  readonly #state;
  readonly #stateLimit;
  readonly #stateRoom;
  readonly #overdue;
  readonly #scheduled;
  readonly #inLine;
  readonly #lateness;
  readonly #throttled;
  readonly #ticking;
  readonly #wrong;
  readonly #conditions;
  readonly #unsent;
  readonly #processes;
  readonly #senders;
  readonly #queue;
  readonly #sources = new Names();
  readonly #answers;

  constructor(given: GaugesOptions) {
    this.#given = given;
    const registers = [given.registry];
    const gauge = <const L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Gauge({ name: `sluice_${name}`, help, labelNames, registers });
    this.#depth = gauge('outbox_payloads', 'Unsent payloads.', 'destination');
    this.#bytes = gauge('outbox_bytes', 'Bytes of unsent payloads.', 'destination');
    this.#oldest = gauge('outbox_oldest_age_seconds', 'Age of the oldest unsent payload.', 'destination');
    this.#allowance = gauge('quota_allowance_requests', 'Daily request allowance of the account.', 'account');
    this.#left = gauge('quota_left_requests', 'Requests remaining for the day.', 'account');
    this.#others = gauge(
      'quota_others_requests',
      'Requests that other programs have made with the account during the day.',
      'account',
    );
    this.#turn = gauge('quota_turn_timestamp_seconds', 'When the daily allowance resets.', 'account');
    this.#kept = gauge('kept_rows', "Number of the job's kept rows.", 'job_name');
    this.#keptBytes = gauge('kept_bytes', "Disk usage of the job's kept rows.", 'job_name');
    this.#state = gauge('state_bytes', 'Size of the state folder by kind of file.', 'kind');
    this.#stateLimit = gauge('state_limit_bytes', 'Maximum size of the state folder.');
    this.#stateRoom = gauge('state_room_bytes', 'Bytes that may still be written to the state folder.');
    this.#overdue = gauge('next_firing_overdue_seconds', 'How long the next firing has been overdue.');
    this.#scheduled = gauge('scheduled_jobs', 'Jobs with a next firing.');
    this.#inLine = gauge(
      'waiting_firings',
      'Firings that are waiting for a free slot or for the previous run of the job.',
    );
    this.#lateness = gauge('waiting_firings_oldest_seconds', 'Delay of the oldest firing whose run has not started.');
    this.#wrong = gauge('open_alerts', 'Open alerts by occasion.', 'occasion');
    this.#conditions = gauge(
      'conditions',
      'Current conditions by kind and level. Level error: a person must act. Kind left_out: jobs with an error in the config.',
      'kind',
      'level',
    );
    this.#answers = gauge('source_answers', '1 if the last check of the source succeeded, 0 if it failed.', 'source');
    this.#unsent = gauge('alert_waiting_messages', 'Alerts that a channel has not accepted yet.', 'channel');
    this.#senders = gauge(
      'account_sender_info',
      'Always 1; the labels show which process is sending to the account, if several machines share the state.',
      'account',
      'process',
    );
    this.#queue = gauge('queue_runs', 'Runs in the queue of a state on a server, by state.', 'state');
    this.#processes = gauge(
      'processes',
      'Live processes of a state on a server, by role and version. Config differs: the process loaded another config than the planner.',
      'role',
      'version',
      'config',
    );
    this.#throttled = gauge('throttled_jobs', 'Jobs that run less often because the daily allowance is insufficient.');
    this.#ticking = gauge('scheduler_ticking', '1 while the scheduler runs, 0 if it has stopped.');
  }

  /** Updates all gauges. */
  async read(): Promise<void> {
    const { ticking, heartbeat } = this.#given;
    const { overdue, scheduled, line = { firings: 0, oldest: 0 } } = ticking();
    this.#inLine.set(line.firings);
    this.#lateness.set(line.oldest / 1000);
    this.#overdue.set(overdue / 1000);
    this.#scheduled.set(scheduled);
    this.#ticking.set(heartbeat.check().ticking ? 1 : 0);
    this.#throttled.set((await this.#given.store.throttledJobs.now()).length);
    await Promise.all([
      this.#readOutbox(),
      this.#readQuota(),
      this.#readAlerts(),
      this.#readKept(),
      this.#readDisk(),
      this.#readChecks(),
      this.#readConditions(),
      this.#readProcesses(),
    ]);
  }

  async #readDisk(): Promise<void> {
    const { store, clock, config } = this.#given;
    const disk = await this.#disk.look(config(), { store, clock });
    if (disk === undefined) return;
    const bytes = new Map(disk.holds.map((one) => [one.kind, one.bytes]));
    for (const kind of diskUsageKinds) this.#state.set({ kind }, bytes.get(kind) ?? 0);
    this.#stateLimit.set(disk.limit_bytes);
    this.#stateRoom.set(disk.room_bytes);
  }

  /**
   * Exports every kind of condition, with 0 if no such condition exists, so that alert rules can distinguish "no
   * condition" from "not reported".
   */
  async #readConditions(): Promise<void> {
    const conditions = await this.#given.conditions();
    for (const kind of conditionKinds) {
      for (const level of conditionLevels) {
        const found = conditions.filter((one) => one.kind === kind && one.level === level);
        this.#conditions.set({ kind, level }, found.length);
      }
    }
  }

  async #readProcesses(): Promise<void> {
    const { store } = this.#given;
    for (const gauge of [this.#processes, this.#queue]) gauge.reset();
    const planner = store.isOnServer ? await store.leases.holder('daemon') : undefined;
    // Each process has its own metrics. These are about all processes, so only one of them may export them.
    if (planner?.owner !== store.processes.self) return;
    for (const { role, version, config_differs } of await reportProcesses(store, planner.owner)) {
      this.#processes.inc({ role, version, config: config_differs ? 'differs' : 'same' });
    }
    const { waiting, running } = await reportQueue(store);
    this.#queue.set({ state: 'waiting' }, waiting);
    this.#queue.set({ state: 'running' }, running);
  }

  async #readChecks(): Promise<void> {
    const { store, config } = this.#given;
    this.#answers.reset();
    for (const { source, trouble } of (await readChecks(store)).values()) {
      if (config().sources.has(source))
        this.#answers.set({ source: this.#sources.of(source) }, trouble === undefined ? 1 : 0);
    }
  }

  async #readKept(): Promise<void> {
    for (const gauge of [this.#kept, this.#keptBytes]) gauge.reset();
    for (const { job, manifest } of await this.#given.store.generations.all()) {
      this.#kept.set({ job_name: this.#jobs.of(job) }, manifest.rows);
      this.#keptBytes.set({ job_name: this.#jobs.of(job) }, bytesOf(manifest));
    }
  }

  async #readOutbox(): Promise<void> {
    const { store, clock, config } = this.#given;
    const owed = Map.groupBy(await store.outbox.inState('owed'), (row) => this.#destinations.of(row.destination));
    const names = [...config().destinations.keys()].map((name) => this.#destinations.of(name));
    for (const gauge of [this.#depth, this.#bytes, this.#oldest]) gauge.reset();
    for (const destination of new Set([...names, ...owed.keys()])) {
      const rows = owed.get(destination) ?? [];
      const since = Math.min(clock.now(), ...rows.slice(0, 1).map(({ owed_at }) => owed_at));
      this.#depth.set({ destination }, rows.length);
      this.#bytes.set(
        { destination },
        rows.reduce((sum, { bytes }) => sum + bytes, 0),
      );
      this.#oldest.set({ destination }, (clock.now() - since) / 1000);
    }
  }

  async #readAlerts(): Promise<void> {
    const { store, config } = this.#given;
    const { alerts } = config();
    for (const gauge of [this.#wrong, this.#unsent]) gauge.reset();
    if (alerts === undefined) return;
    const rows = (await store.alerts.all()).filter(({ cleared_at }) => cleared_at === null);
    for (const occasion of occasions)
      this.#wrong.set({ occasion }, rows.filter((row) => row.occasion === occasion).length);
    const waiting = Map.groupBy(await store.alerts.waiting(), ({ channel }) => channel);
    for (const channel of alerts.channels.values()) {
      const { name } = channel;
      if (acceptsAlerts(channel)) this.#unsent.set({ channel: name }, waiting.get(name)?.length ?? 0);
    }
  }

  async #readQuota(): Promise<void> {
    const { store, clock, config } = this.#given;
    const accounts = await reportAccounts(config(), store, clock);
    for (const gauge of [this.#allowance, this.#left, this.#others, this.#turn]) gauge.reset();
    this.#senders.reset();
    for (const { destinations, used, others, limit, turns_at, spent_until, sender } of accounts) {
      const account = this.#accounts.of(destinations[0] ?? '');
      this.#allowance.set({ account }, limit);
      this.#left.set({ account }, spent_until === undefined ? Math.max(0, limit - used) : 0);
      this.#others.set({ account }, others);
      this.#turn.set({ account }, turns_at / 1000);
      if (sender !== undefined) this.#senders.set({ account, process: sender }, 1);
    }
  }
}
