import type { Job } from '../../config/config.ts';
import type { Problem } from '../../lib/problem.ts';
import type { Runtime } from '../compose.ts';
import type { ActiveConfig } from '../config/active-config.ts';
import type { PlannerTerm } from '../fleet/fleet.ts';
import type { FleetOutcome } from '../fleet/fleet-queue.ts';
import { runUnqueued, type UnqueuedTry } from '../fleet/run-unqueued.ts';
import { isToWait } from '../login-holds/login-waits.ts';
import type { Retrier } from '../retry/retrier.ts';
import { runJob } from '../run/run-job.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { isOfDisk } from './disk-retries.ts';
import { type Firing, newRunOf } from './firing.ts';
import type { QueuedRun } from './run-queue.ts';
import type { Scheduler } from './scheduler.ts';

interface FiringRunnerOptions {
  readonly runtime: Runtime;
  readonly scheduler: Scheduler;
  readonly retries: Retrier;
  /** The queue of a fleet's planner. If it's absent, this process runs all jobs itself. */
  readonly fleet?: Pick<PlannerTerm, 'queue'> | undefined;
  /** Aborted when this process stops planning. */
  readonly stop: AbortSignal;
}

interface FiringOrder extends Pick<QueuedRun, 'firing' | 'signal' | 'ticket'> {
  readonly job: Job;
  readonly now: ActiveConfig;
}

/** Runs the jobs of firings that have left the run queue, in this process or in another one of its fleet. */
export class FiringRunner {
  readonly #options: FiringRunnerOptions;

  constructor(options: FiringRunnerOptions) {
    this.#options = options;
  }

  /**
   * Runs the job in the process of the fleet that has a free slot. Jobs that refresh their targets stay here, where
   * they're sent together, and so do jobs that may block their process. Resolves to undefined if this process stops
   * planning: the next planner then waits for the run, or fires the firing.
   */
  async run(order: FiringOrder): Promise<FleetOutcome | undefined> {
    const { runtime, scheduler, retries, fleet } = this.#options;
    const { firing, signal, job, now } = order;
    if (fleet === undefined) return unqueued(await now.follow(this.#runHere(order)));
    const isHere = job.extract === undefined || runtime.healed.suspects.has(job.name);
    if (isHere && firing.queuedAs === undefined) return unqueued(await now.follow(this.#runUnqueued(order)));
    const ended = await fleet.queue.run({
      firing,
      signal,
      begin: (parts) => scheduler.begin(firing, parts),
      nextFiring: retries.nextFiringOf(job, firing.attempt?.since ?? runtime.clock.now()),
    });
    const { state, problem } = ended?.outcome ?? {};
    // Recorded before the row is deleted, so that a crash in between repeats the firing.
    if (state === 'failed' && isWaiting(firing, problem)) await scheduler.deferEnded(firing);
    return ended;
  }

  /** Runs a job that isn't in the fleet's queue. */
  #runUnqueued(order: FiringOrder): Promise<RunOutcome | undefined> {
    const { runtime, stop } = this.#options;
    const { firing, signal, ticket } = order;
    const run = async (tried: UnqueuedTry): Promise<RunOutcome> => {
      const later = { ...order, ticket: undefined, firing: tried === 'again' ? newRunOf(firing, true) : firing };
      const outcome = await this.#runHere(tried === 'first' ? order : later);
      // The other refreshes don't wait for another try.
      ticket?.cancel();
      return outcome;
    };
    return runUnqueued({ runtime, run, signal, stop });
  }

  #runHere({ firing, signal, ticket, job, now }: FiringOrder): Promise<RunOutcome> {
    const { runtime, scheduler, retries } = this.#options;
    return runJob({
      runtime: { ...runtime, gateway: now.gateway, logins: now.logins },
      config: now.config,
      job,
      origin: 'schedule',
      signal,
      logicalAt: firing.logicalAt,
      firedAt: firing.at,
      begun: (parts) => scheduler.begin(firing, parts),
      failed: async (parts, problem) => {
        if (isWaiting(firing, problem)) await scheduler.defer(firing, parts);
      },
      // If another planner has interrupted the run, that one repeats the firing.
      stopped: (parts) => scheduler.defer(firing, parts),
      attempt: retries.attemptOf(firing, job),
      seat: ticket,
    });
  }
}

/** An outcome that isn't in the fleet's queue. */
const unqueued = (outcome: RunOutcome | undefined): FleetOutcome | undefined =>
  outcome && { outcome, taken: async () => undefined };

/** Whether a firing whose run failed with this problem fires again when the login or the disk works again. */
const isWaiting = (firing: Firing, problem: Problem | undefined): boolean =>
  isToWait(firing, problem) || isOfDisk(problem);
