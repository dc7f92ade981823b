import { Problem } from '../../lib/problem.ts';
import type { Lease } from '../../state/processes/leases.ts';
import { processText } from '../../state/processes/processes.ts';
import type { Runtime } from '../compose.ts';
import type { ActiveConfig } from '../config/active-config.ts';
import { Election } from './election.ts';
import { FleetQueue } from './fleet-queue.ts';
import { FleetWorker } from './fleet-worker.ts';

/** How often a process checks whether a newer version of Sluice has changed the state's schema, in milliseconds. */
const schemaCheckMs = 5_000;
/** Heartbeats show that a process is dead only if this process was able to read them for this long. */
const trustedMs = 5_000;

/** The time in which this process plans. */
export interface PlannerTerm {
  readonly queue: FleetQueue;
  readonly lease: Lease;
  /** Aborted when another process plans. */
  readonly signal: AbortSignal;
}

/** How this process takes part in a fleet. */
export interface FleetSettings {
  /** The hash of the config that the daemon starts with. */
  readonly configHash: string;
  /** The maximum number of concurrent runs. By default, the config decides. */
  readonly concurrency?: number | undefined;
  /** Whether this process never plans, but only runs jobs. */
  readonly isWorkOnly?: boolean | undefined;
  /** Called if this process must end, because a newer version of Sluice has changed the state's schema. */
  readonly outdated: (problem: Problem) => void;
}

interface FleetOptions extends FleetSettings {
  readonly runtime: Runtime;
  readonly active: () => ActiveConfig;
  readonly plan: (term: PlannerTerm) => Promise<void>;
  /** Called after a term's signal was aborted. Resolves when this process no longer plans. */
  readonly resign: () => Promise<void>;
  readonly fault: (message: string, error: unknown, facts?: object) => void;
  readonly stop: AbortSignal;
}

/**
 * This process's part in a fleet: the processes that share a state on a server. Each of them runs jobs and sends
 * payloads; one of them plans the runs.
 */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #worker: FleetWorker;
  readonly #election: Election | undefined;
  #configHash: string;
  #term: { readonly end: AbortController; readonly queue: FleetQueue } | undefined;
  #checking: Promise<void> = Promise.resolve();

  constructor(options: FleetOptions) {
    const { runtime, active, fault, stop, isWorkOnly = false } = options;
    const { store, clock } = runtime;
    this.#options = options;
    this.#configHash = options.configHash;
    this.#worker = new FleetWorker({
      ...{ runtime, active, fault, stop },
      config: () => this.#configHash,
      concurrency: () => options.concurrency ?? active().config.concurrency,
      ended: () => this.#term?.queue.nudge(),
    });
    const lock = isWorkOnly ? undefined : store.plannerLock?.();
    this.#election =
      lock &&
      new Election({
        ...{ store, clock, lock, stop },
        elected: (lease) => this.#plan(lease),
        resigned: () => this.#resign('another process has taken over'),
        failed: (error) => fault('failed to check which process plans', error),
      });
  }

  start(): void {
    this.#worker.start();
    this.#election?.start();
    this.#checking = this.#checkSchema();
  }

  /** Call this before the schedules of another config are adopted. */
  adopt(configHash: string): void {
    this.#configHash = configHash;
    this.#worker.adopt();
  }

  /** Resolves when this process takes no more part. It must be stopping, and must no longer plan. */
  async close(): Promise<void> {
    this.#term?.end.abort();
    await Promise.all([this.#election?.close(), this.#worker.idle(), this.#checking]);
  }

  async #plan(lease: Lease): Promise<void> {
    const { runtime, plan, fault, stop } = this.#options;
    const { store, clock, events } = runtime;
    const end = new AbortController();
    const signal = AbortSignal.any([stop, end.signal]);
    const queue = new FleetQueue({
      ...{ store, clock, lease },
      config: () => this.#configHash,
      queued: () => this.#worker.nudge(),
      isConnected: () => this.#worker.connectedMs() >= trustedMs,
      dead: ({ job, owner, isAgain }) =>
        events.emit('fleet.run_recovered', { job, process: processText(owner), is_begun_again: isAgain }),
      stop: signal,
      failed: (error) => fault("failed to use the fleet's queue", error),
    });
    this.#term = { end, queue };
    try {
      await plan({ queue, lease, signal });
      events.emit('fleet.planning', {});
    } catch (error) {
      await this.#resign('the schedules could not be started');
      throw error;
    }
  }

  async #resign(reason: string): Promise<void> {
    const { runtime, resign } = this.#options;
    this.#term?.end.abort();
    this.#term = undefined;
    await resign();
    runtime.events.emit('fleet.resigned', { reason });
  }

  async #checkSchema(): Promise<void> {
    const { runtime, stop, outdated } = this.#options;
    while (!stop.aborted) {
      await runtime.clock.sleep(schemaCheckMs, stop).catch(() => undefined);
      await runtime.store.checkSchema().catch((error: unknown) => {
        if (error instanceof Problem && error.code === 'STATE_NEWER') outdated(error);
      });
    }
  }
}
