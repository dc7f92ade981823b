import PQueue from 'p-queue';
import type { Config, Job } from '../config/config.ts';
import { Deliverer } from '../delivery/deliverer.ts';
import { runJob } from './run-job.ts';
import { type Firing, Scheduler } from './scheduler.ts';
import { openGateway, type Runtime } from './wire.ts';

/** Extracts side by side; the rest of what is due stands in line. */
const together = 4;

export interface DaemonGiven {
  readonly runtime: Runtime;
  readonly config: Config;
}

/**
 * The long-running worker: fires jobs when they are due, delivers what they make, takes a new config whole. What it
 * knows is in the store, so that it may be killed at any moment.
 */
export class Daemon {
  readonly #runtime: Runtime;
  readonly #scheduler: Scheduler;
  readonly #queue = new PQueue({ concurrency: together });
  readonly #stop = new AbortController();
  /** Jobs that are running or stand in line here. */
  readonly #active = new Set<string>();
  #config: Config;
  #gateway: Runtime['gateway'];
  #deliverer: Deliverer;

  constructor({ runtime, config }: DaemonGiven) {
    this.#runtime = runtime;
    this.#config = config;
    this.#gateway = runtime.gateway;
    this.#deliverer = new Deliverer(runtime.gateway);
    const { store, clock, log } = runtime;
    const failed = (error: unknown): void => log.error('the timer met a fault', { error: String(error) });
    this.#scheduler = new Scheduler({ store, clock, failed, fire: (firing) => this.#fire(firing) });
  }

  /** Resumes the schedules, sends what is owed, fires what was missed. */
  async start(): Promise<void> {
    await this.#scheduler.adopt(this.#config.jobs.values());
    this.#deliverer.start();
    this.#scheduler.start();
    const owed = await this.#runtime.store.outbox.inState('owed');
    const { size: jobs } = this.#config.jobs;
    const scheduled = this.#scheduler.next().length;
    this.#runtime.events.emit('daemon.started', { jobs, scheduled, owed: owed.length });
  }

  /**
   * Puts a new config in force, whole: schedules, jobs, destinations. Runs under way end with the one they began with.
   * The state folder cannot be exchanged under a running daemon; whoever calls this makes sure that it is the same.
   */
  async adopt(config: Config, refused: readonly string[]): Promise<void> {
    const { store, events, clock } = this.#runtime;
    const [oldGateway, oldDeliverer] = [this.#gateway, this.#deliverer];
    await oldDeliverer.stop();
    this.#gateway = openGateway({ store, events, clock, destinations: config.destinations.values() });
    this.#deliverer = new Deliverer(this.#gateway);
    this.#config = config;
    this.#deliverer.start();
    await this.#scheduler.adopt(config.jobs.values());
    events.emit('config.reloaded', { file: config.file, jobs: config.jobs.size, refused });
    // Bulk refreshes of runs under way still go through the old gateway.
    void this.#queue.onIdle().then(() => (oldGateway === this.#runtime.gateway ? undefined : oldGateway.close()));
  }

  /** Ends within a few seconds. Running extracts are given up, owed payloads stay owed. */
  async stop(reason: string): Promise<void> {
    this.#runtime.events.emit('daemon.stopping', { reason });
    this.#scheduler.stop();
    this.#stop.abort(new Error(reason));
    await Promise.all([this.#deliverer.stop(), this.#queue.onIdle()]);
    await this.#gateway.close();
  }

  #fire(firing: Firing): void {
    const { job, at } = firing;
    if (this.#active.has(job.name)) {
      this.#skip(firing, 'the last run of this job has not ended');
      return;
    }
    this.#active.add(job.name);
    void this.#queue
      .add(() => this.#run(firing))
      .catch((error: unknown) => {
        this.#runtime.log.error('a firing met a fault', { job: job.name, at, error: String(error) });
      });
  }

  async #run(firing: Firing): Promise<void> {
    const { job } = firing;
    try {
      if (this.#stop.signal.aborted) return;
      const outcome = await runJob({
        runtime: { ...this.#runtime, gateway: this.#gateway },
        config: this.#config,
        job: this.#present(job),
        origin: 'schedule',
        signal: this.#stop.signal,
        settle: (parts) => firing.settle(parts),
      });
      if (outcome.state === 'busy') this.#skip(firing, 'another process is running this job');
      if (outcome.state === 'owed') this.#deliverer.nudge();
    } finally {
      this.#active.delete(job.name);
    }
  }

  /** A job that stood in line while the config was exchanged runs as it is now. */
  #present(job: Job): Job {
    return this.#config.jobs.get(job.name) ?? job;
  }

  #skip({ job, at, settle }: Firing, reason: string): void {
    const { store, events, log } = this.#runtime;
    events.emit('firing.skipped', { job: job.name, at, reason });
    settle(store).catch((error: unknown) =>
      log.error('a schedule could not be written down', { job: job.name, error: String(error) }),
    );
  }
}
