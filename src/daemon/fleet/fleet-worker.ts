import type { Job } from '../../config/config.ts';
import { type Clock, localOf } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { nextFiring } from '../../schedule/schedule.ts';
import { jobLock } from '../../state/engine/lock-keys.ts';
import type { TakenRun } from '../../state/runs/fleet-runs.ts';
import type { Repositories } from '../../state/store.ts';
import type { FleetRunRow, RetryRow } from '../../state/tables.ts';
import type { Runtime } from '../compose.ts';
import type { ActiveConfig } from '../config/active-config.ts';
import { cancelled } from '../firing/run-queue.ts';
import { type Attempt, attemptOf } from '../retry/attempt.ts';
import { runJob } from '../run/run-job.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { BusyRuns } from './busy-runs.ts';
import { beginAgain } from './dead-runs.ts';
import { Poll } from './poll.ts';
import { outcomeText } from './stored-outcome.ts';

/** How often a process with a free slot looks for runs, in milliseconds. */
const lookMs = 250;
/** How often a process checks whether its runs were canceled or lost. */
const checkMs = 1_000;
/** How long runs that were planned with another config may wait before this process reports them. */
const otherConfigMs = 10_000;

export interface FleetWorkerOptions {
  readonly runtime: Runtime;
  readonly active: () => ActiveConfig;
  /** The hash of the active config. */
  readonly config: () => string;
  /** The maximum number of concurrent runs. */
  readonly concurrency: () => number;
  /** Called when a run has ended. */
  readonly ended: () => void;
  readonly fault: (message: string, error: unknown, facts?: object) => void;
  /** Aborted when the process stops. */
  readonly stop: AbortSignal;
}

interface RunInProgress {
  readonly job: string;
  readonly cancel: AbortController;
  readonly done: Promise<void>;
}

/** Takes runs from the fleet's queue and runs them. Every process of a fleet has one worker. */
export class FleetWorker {
  readonly #options: FleetWorkerOptions;
  /** By the token of each taking. */
  readonly #running = new Map<string, RunInProgress>();
  /** Jobs that aren't in this process's config, such as because a variable is missing on this machine. */
  readonly #unknown = new Set<string>();
  readonly #busy: BusyRuns;
  /** The clock of this process, because the state's clock can be set. */
  readonly #clock: Clock;
  readonly #poll: Poll;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #connectedSince: number | undefined;
  #othersSince: number | undefined;

  constructor(options: FleetWorkerOptions) {
    const { runtime, fault, stop } = options;
    this.#options = options;
    this.#busy = new BusyRuns(runtime.clock);
    this.#clock = localOf(runtime.clock);
    this.#poll = new Poll({
      ...{ clock: runtime.clock, everyMs: lookMs, stop },
      look: () => this.#look(),
      failed: (error) => fault("failed to use the fleet's queue", error),
    });
  }

  start(): void {
    this.#poll.start();
  }

  /** Looks for runs now. */
  nudge(): void {
    this.#poll.nudge();
  }

  /** Call this when another config was adopted. */
  adopt(): void {
    this.#unknown.clear();
    this.#othersSince = undefined;
    this.nudge();
  }

  /** How long this process has been able to use the state without interruption, in milliseconds. */
  connectedMs(): number {
    return this.#connectedSince === undefined ? 0 : this.#clock.monotonic() - this.#connectedSince;
  }

  /** Resolves when all runs have ended or were given back. The process must be stopping. */
  async idle(): Promise<void> {
    await this.#poll.idle();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  /** A process whose installation was removed takes no runs. */
  async #look(): Promise<void> {
    const { runtime } = this.#options;
    if (runtime.installation?.look()) return;
    try {
      await this.#take();
      await this.#check();
      this.#connectedSince ??= this.#clock.monotonic();
    } catch (error) {
      this.#connectedSince = undefined;
      throw error;
    }
  }

  async #take(): Promise<void> {
    const { runtime, config, concurrency, stop } = this.#options;
    const free = concurrency() - this.#running.size;
    if (free <= 0) return;
    // A run that this process has lost may still be in progress here. Until it has ended, its job would be busy.
    const running = [...this.#running.values()].map(({ job }) => job);
    const except = [...this.#unknown, ...running, ...this.#busy.resting()];
    for (const taken of await runtime.store.fleetRuns.take(config(), free, except)) {
      const job = this.#options.active().config.jobs.get(taken.job);
      if (job === undefined || stop.aborted) {
        this.#unknown.add(taken.job);
        await runtime.store.fleetRuns.giveBack(taken, taken);
      } else this.#begin(taken, job);
    }
  }

  #begin(taken: TakenRun, job: Job): void {
    const cancel = new AbortController();
    const done = this.#run(taken, job, cancel.signal)
      .catch((error: unknown) => this.#options.fault('a run of the fleet failed', error, { job: job.name }))
      .finally(() => {
        this.#running.delete(taken.token);
        this.nudge();
      });
    this.#running.set(taken.token, { job: job.name, cancel, done });
  }

  async #run(taken: TakenRun, job: Job, cancel: AbortSignal): Promise<void> {
    const { runtime, active, stop, ended } = this.#options;
    const now = active();
    const run = runJob({
      runtime: { ...runtime, gateway: now.gateway, logins: now.logins },
      config: now.config,
      job,
      origin: 'schedule',
      signal: AbortSignal.any([stop, cancel]),
      logicalAt: taken.logical_at ?? undefined,
      firedAt: taken.fired_at,
      begun: async (parts, run) => {
        if (!(await parts.fleetRuns.begun(taken, run))) throw lost(job);
      },
      attempt: await this.#attemptOf(taken, job),
    });
    const outcome = await now.follow(run);
    if (outcome.state === 'owed') active().nudge();
    const isBusy = outcome.state === 'busy' && !cancel.aborted;
    const wait = isBusy ? this.#busy.wait(taken, this.connectedMs()) : undefined;
    if (outcome.state === 'stopped' && stop.aborted && !cancel.aborted) await this.#giveBack(taken, outcome);
    else if (wait !== undefined) await this.#putBack({ ...taken, ...wait });
    else await this.#end(taken, outcome);
    ended();
  }

  async #attemptOf({ attempt, ...taken }: TakenRun, job: Job): Promise<Attempt | undefined> {
    const { store, clock } = this.#options.runtime;
    const planned = attempt === null ? undefined : (JSON.parse(attempt) as RetryRow);
    const kept = planned === undefined ? undefined : await store.retries.find(job.name);
    const facts = kept?.run === planned?.run ? (kept?.facts ?? null) : null;
    return attemptOf({
      job,
      row: planned && { ...planned, facts },
      now: () => clock.now(),
      firedAt: taken.fired_at,
      logicalAt: taken.logical_at ?? undefined,
      isKept: true,
      nextFiring: () => nextFiringOf(taken, job, clock.now()),
    });
  }

  /** A stopped attempt doesn't count, so its run goes on. Any other run begins again. */
  async #giveBack(taken: TakenRun, { run }: RunOutcome): Promise<void> {
    await this.#settle(taken, async ({ fleetRuns, retries }) => {
      const isGoingOn = (await retries.find(taken.job))?.run === run;
      const attempt = isGoingOn ? taken.attempt : null;
      await fleetRuns.giveBack(taken, { deaths: taken.deaths, attempt });
    });
  }

  /** Lets a run wait that couldn't begin. */
  async #putBack(taken: TakenRun): Promise<void> {
    await this.#settle(taken, ({ fleetRuns }) => fleetRuns.giveBack(taken, taken));
  }

  async #end(taken: TakenRun, outcome: RunOutcome): Promise<void> {
    const text = outcomeText(outcome);
    const { state, run } = outcome;
    if (state !== 'failed' || run === undefined) return this.#options.runtime.store.fleetRuns.settle(taken, text);
    await this.#settle(taken, async ({ fleetRuns, runs }) => {
      // A process that has just started may have considered this one dead, without the planner's knowledge.
      const wasInterrupted = (await runs.find(run))?.state === 'interrupted';
      if (!wasInterrupted || !(await beginAgain(fleetRuns, taken))) await fleetRuns.end(taken, text);
    });
  }

  async #settle({ token, job }: TakenRun, work: (parts: Repositories) => Promise<unknown>): Promise<void> {
    await this.#options.runtime.store.settle(`fleet run ${token}`, work, [jobLock(job)]);
  }

  /** Stops runs that were canceled or lost, and reports runs that this process can't take because of its config. */
  async #check(): Promise<void> {
    const { runtime } = this.#options;
    const now = this.#clock.monotonic();
    if (now - this.#checkedAt < checkMs) return;
    this.#checkedAt = now;
    await this.#reportOtherConfigs(now);
    if (this.#running.size === 0) return;
    const before = [...this.#running];
    const ours = await runtime.store.fleetRuns.stillOurs();
    for (const [token, { cancel }] of before) {
      const run = ours.get(token);
      // A run that has just ended isn't in the list either.
      if (run === undefined && this.#running.has(token)) cancel.abort(lost());
      else if (run?.isCancelled) cancel.abort(cancelled());
    }
  }

  async #reportOtherConfigs(now: number): Promise<void> {
    const { runtime, config } = this.#options;
    const others = (await runtime.store.fleetRuns.waitingConfigs()).filter((hash) => hash !== config());
    if (others.length === 0) {
      this.#othersSince = undefined;
      return;
    }
    this.#othersSince ??= now;
    if (now - this.#othersSince < otherConfigMs) return;
    // Reported once for each wait.
    this.#othersSince = Number.POSITIVE_INFINITY;
    runtime.events.emit('fleet.config_differs', { config_sha256: config(), planned_with: others[0]! });
  }
}

/**
 * When the job fires next. If that firing has passed, the one after it counts, except in a run for an instant in the
 * past, for which all missed firings wait.
 */
function nextFiringOf(
  { next_firing, logical_at }: Pick<FleetRunRow, 'next_firing' | 'logical_at'>,
  { schedule }: Job,
  now: number,
): number | null {
  if (next_firing === null || next_firing > now || logical_at !== null || schedule === undefined) return next_firing;
  return nextFiring(schedule, now);
}

function lost(job?: Job): Problem {
  return new Problem({
    code: 'RUN_LOST',
    family: 'job',
    message: 'Another process has the run, because this one was considered dead',
    where: { job: job?.name },
  });
}
