import { type Clock, localOf } from '../../lib/clock.ts';
import { jobLock } from '../../state/engine/lock-keys.ts';
import type { Lease } from '../../state/processes/leases.ts';
import type { Repositories, Store } from '../../state/store.ts';
import type { FleetRunRow } from '../../state/tables.ts';
import type { Firing } from '../firing/firing.ts';
import { urgencyOf } from '../firing/run-queue.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { type DeadRun, takeDeadRuns } from './dead-runs.ts';
import { Poll } from './poll.ts';
import { outcomeOf } from './stored-outcome.ts';

/** How often the queue looks for outcomes, and for runs of dead processes, in milliseconds. */
const lookMs = 250;
const deadMs = 1_000;

export interface FleetQueueOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** The hash of the active config. */
  readonly config: () => string;
  /** The lease under which this process plans. */
  readonly lease: Lease;
  /** Called after a run was queued. */
  readonly queued: () => void;
  /** Whether heartbeats can be trusted: this process has been able to read them for long enough. */
  readonly isConnected: () => boolean;
  /** Called for each run that was taken away from a dead process. */
  readonly dead: (run: DeadRun) => void;
  /** Aborted when this process stops planning. */
  readonly stop: AbortSignal;
  readonly failed: (error: unknown) => void;
}

/** A run to queue. */
export interface FleetOrder {
  readonly firing: Firing;
  /**
   * Records that the firing has a run. Called in the transaction that queues the run. Throws `LEASE_LOST` if another
   * process plans now.
   */
  readonly begin: (parts: Repositories) => Promise<void>;
  readonly nextFiring: number | null;
  /** Aborted if a newer firing replaces the run, or when this process stops planning. */
  readonly signal: AbortSignal;
}

/** An ended run. `taken` must be called when everything that follows from the outcome is recorded. */
export interface FleetOutcome {
  readonly outcome: RunOutcome;
  taken(): Promise<void>;
}

/**
 * The planner's side of the fleet's queue: queues runs and waits for their outcomes. The rows outlive this process. The
 * next planner therefore waits for the same runs.
 */
export class FleetQueue {
  readonly #options: FleetQueueOptions;
  readonly #waiting = new Map<string, (outcome: RunOutcome) => void>();
  readonly #poll: Poll;
  #deadAt = Number.NEGATIVE_INFINITY;

  constructor(options: FleetQueueOptions) {
    const { clock, failed, stop } = options;
    this.#options = options;
    this.#poll = new Poll({ clock, everyMs: lookMs, look: () => this.#look(), failed, stop });
  }

  start(): void {
    this.#poll.start();
  }

  /** Looks for outcomes now. */
  nudge(): void {
    this.#poll.nudge();
  }

  /** Resolves when the queue no longer uses the store. */
  async idle(): Promise<void> {
    await this.#poll.idle();
  }

  /** Call this when a config was adopted: waiting runs belong to it, except those of jobs that it doesn't contain. */
  async adopt(isKnown: (job: string) => boolean): Promise<void> {
    const { fleetRuns } = this.#options.store;
    for (const { id, job, owner } of await fleetRuns.all()) {
      if (owner !== null || isKnown(job) || !(await this.#withdraw(id))) continue;
      this.#waiting.get(id)?.({ ...noWork, state: 'stopped', job });
    }
    await fleetRuns.assign(this.#options.config());
  }

  /** Queues a run and waits until it has ended. Resolves to undefined if this process stops planning first. */
  async run({ firing, signal, ...order }: FleetOrder): Promise<FleetOutcome | undefined> {
    const id = firing.queuedAs ?? (await this.#add({ firing, signal, ...order }));
    if (id === undefined) return { outcome: busy(firing), taken: async () => undefined };
    const outcome = await this.#outcome(id, firing, signal);
    return outcome && { outcome, taken: () => this.#options.store.fleetRuns.forget(id, this.#options.lease) };
  }

  async #add({ firing, begin, nextFiring }: FleetOrder): Promise<string | undefined> {
    const { store, config, queued } = this.#options;
    const { job, at, logicalAt, attempt } = firing;
    const id = await store.transactionOn([jobLock(job.name)], async (parts) => {
      await begin(parts);
      return parts.fleetRuns.add({
        job: job.name,
        fired_at: at,
        logical_at: logicalAt ?? null,
        // The facts are read again when the attempt begins.
        attempt: attempt === undefined ? null : JSON.stringify({ ...attempt, facts: null }),
        next_firing: nextFiring,
        urgency: Math.round(urgencyOf(firing)),
        config_sha256: config(),
      });
    });
    queued();
    return id;
  }

  #outcome(id: string, firing: Firing, signal: AbortSignal): Promise<RunOutcome | undefined> {
    const { stop, failed } = this.#options;
    const { promise, resolve } = Promise.withResolvers<RunOutcome | undefined>();
    const leave = (): void => resolve(undefined);
    const end = (): void => {
      if (!stop.aborted) this.#cancel(id, firing, resolve).catch(failed);
    };
    this.#waiting.set(id, resolve);
    // Also leaves a run that was canceled before.
    if (stop.aborted) leave();
    else stop.addEventListener('abort', leave, { once: true });
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    // A run that an earlier planner has queued may have ended already.
    if (firing.queuedAs !== undefined) this.nudge();
    return promise.finally(() => {
      this.#waiting.delete(id);
      stop.removeEventListener('abort', leave);
      signal.removeEventListener('abort', end);
    });
  }

  /** If the run is still waiting, it's over. Otherwise, its process ends it. */
  async #cancel(id: string, { job }: Firing, resolve: (outcome: RunOutcome) => void): Promise<void> {
    if (await this.#withdraw(id)) resolve({ ...noWork, state: 'stopped', job: job.name });
    else await this.#options.store.fleetRuns.cancel(id);
  }

  /** The next planner would wait forever for a row that this process deleted after it had lost the lease. */
  #withdraw(id: string): Promise<boolean> {
    const { store, lease } = this.#options;
    return store.transactionOn([], async ({ leases, fleetRuns }) => {
      await leases.assertHeld(lease);
      return fleetRuns.withdraw(id);
    });
  }

  async #look(): Promise<void> {
    const { store, clock } = this.#options;
    for (const row of await store.fleetRuns.ended()) this.#take(row);
    const now = localOf(clock).monotonic();
    if (now - this.#deadAt < deadMs) return;
    this.#deadAt = now;
    await this.#takeDead();
  }

  #take({ id, outcome }: FleetRunRow): void {
    this.#waiting.get(id)?.(outcomeOf(outcome!));
  }

  async #takeDead(): Promise<void> {
    const { store, clock, isConnected, dead, queued } = this.#options;
    if (!isConnected()) return;
    const runs = await takeDeadRuns({ store, clock });
    for (const run of runs) dead(run);
    if (runs.length > 0) queued();
  }
}

const noWork = { rows: 0, bytes: 0, requests: 0, milliseconds: 0 };

const busy = ({ job }: Firing): RunOutcome => ({ ...noWork, state: 'busy', job: job.name });
