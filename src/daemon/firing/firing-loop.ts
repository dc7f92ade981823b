import type { Config, Job } from '../../config/config.ts';
import type { Timer } from '../../schedule/timer.ts';
import { isLeaseLost } from '../../state/processes/leases.ts';
import type { FleetRunRow, RetryRow } from '../../state/tables.ts';
import type { Runtime } from '../compose.ts';
import type { ActiveConfig } from '../config/active-config.ts';
import type { PlannerTerm } from '../fleet/fleet.ts';
import { isToWait, LoginWaits } from '../login-holds/login-waits.ts';
import { Retrier } from '../retry/retrier.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { Throttler } from '../throttle/throttler.ts';
import type { Firing } from './firing.ts';
import { FiringNotes } from './firing-notes.ts';
import { FiringRunner } from './firing-runner.ts';
import { type QueuedRun, RunQueue } from './run-queue.ts';
import { Scheduler, type Ticking } from './scheduler.ts';
import { WaitingFirings } from './waiting-firings.ts';

interface FiringLoopOptions {
  readonly runtime: Runtime;
  /** Returns the config that firings currently use. */
  readonly active: () => ActiveConfig;
  readonly timer: Timer | undefined;
  /** Aborted when the daemon stops. */
  readonly stop: AbortSignal;
  readonly fault: (message: string, error: unknown, facts?: object) => void;
  /** The queue and the lease of a fleet's planner. If they're absent, this process runs all jobs itself. */
  readonly fleet?: Pick<PlannerTerm, 'queue' | 'lease'> | undefined;
}

/** A fixed string, because consecutive firings that are skipped for the same reason share one row in the history. */
const loginReason = "the source's login was refused and is on hold; the job will run when the login works again";

/** The main loop. It moves due firings through the run queue and follows each run until it ends. */
export class FiringLoop {
  readonly #runtime: Runtime;
  readonly #active: () => ActiveConfig;
  readonly #fault: FiringLoopOptions['fault'];
  readonly #scheduler: Scheduler;
  readonly #queue: RunQueue;
  readonly #throttler: Throttler;
  readonly #waiting: WaitingFirings;
  readonly #retries: Retrier;
  readonly #loginWaits: LoginWaits;
  readonly #notes: FiringNotes;
  readonly #runner: FiringRunner;
  readonly #fleet: FiringLoopOptions['fleet'];
  #working: Promise<void> = Promise.resolve();

  constructor({ runtime, active, timer, stop, fault, fleet }: FiringLoopOptions) {
    const { store, clock, events, healed, loginGate: gate } = runtime;
    this.#runtime = runtime;
    this.#active = active;
    this.#fleet = fleet;
    this.#fault = fault;
    this.#throttler = new Throttler({ store, clock, emit: events.emit });
    this.#scheduler = new Scheduler({
      ...{ store, clock, timer, lease: fleet?.lease },
      failed: (error) => this.#fault('the timer failed', error),
      clockSet: (by) => this.#notes.clockSet(by),
    });
    this.#notes = new FiringNotes({ runtime, scheduler: this.#scheduler, failed: fault, stop });
    this.#queue = new RunQueue({ run: (run) => this.#run(run), suspects: healed.suspects, stop });
    const fire = (firing: Firing): void => this.#notes.write(this.#admit(firing, true));
    this.#waiting = new WaitingFirings({
      ...{ clock, stop },
      failed: (error) => this.#fault('failed to check for waiting firings', error),
    });
    this.#loginWaits = new LoginWaits({
      ...{ gate, fire, stop, waiting: this.#waiting },
      sourceOf: (job) => active().config.jobs.get(job)?.extract?.source,
    });
    this.#retries = new Retrier({
      ...{ store, clock, emit: events.emit, scheduler: this.#scheduler, waiting: this.#waiting, fire, stop },
      failed: fault,
      nextFiring: (job, after) => this.#throttler.nextFiring(job, after),
    });
    this.#runner = new FiringRunner({ runtime, scheduler: this.#scheduler, retries: this.#retries, fleet, stop });
  }

  /** Resumes the schedules and the waiting retries. Returns the number of jobs that have a schedule. */
  async load({ jobs, concurrency }: Config): Promise<number> {
    this.#setConcurrency(concurrency);
    const queued = this.#fleet === undefined ? [] : await this.#runtime.store.fleetRuns.all();
    await this.#retries.load(jobs, new Set(queued.map(({ job }) => job)));
    await this.#scheduler.adopt(jobs.values());
    await this.#fleet?.queue.adopt((name) => isScheduled(jobs.get(name)));
    for (const row of queued) this.#resume(row, jobs.get(row.job));
    return this.#scheduler.next().length;
  }

  /** In a fleet, each process limits the runs that it takes from the queue. */
  #setConcurrency(concurrency: number): void {
    this.#queue.setConcurrency(this.#fleet === undefined ? concurrency : Number.POSITIVE_INFINITY);
  }

  /** Waits for a run that an earlier planner has queued. */
  #resume(row: FleetRunRow, job: Job | undefined): void {
    const { id: queuedAs, fired_at: at, logical_at, attempt: planned } = row;
    if (!isScheduled(job)) return;
    const attempt = planned === null ? {} : { attempt: JSON.parse(planned) as RetryRow };
    const logicalAt = logical_at === null ? {} : { logicalAt: logical_at };
    this.#offer({ job, at, queuedAs, isCatchUp: false, ...attempt, ...logicalAt });
  }

  /** Adopts a config's schedules, all or nothing. Firing starts when {@link resume} is called. */
  async adopt(config: Config): Promise<void> {
    await this.#scheduler.adopt(config.jobs.values());
    await this.#retries.adopt(config);
    await this.#fleet?.queue.adopt((name) => isScheduled(config.jobs.get(name)));
  }

  /** Fires all jobs that are due according to the adopted config. */
  resume({ concurrency }: Config): void {
    this.#setConcurrency(concurrency);
    this.#scheduler.look();
  }

  start(): void {
    this.#fleet?.queue.start();
    this.#scheduler.start();
    this.#working = this.#work();
  }

  /** Call this when a source's check has succeeded. */
  answered(source: string): void {
    this.#retries.answered(source);
  }

  ticking(): Ticking {
    return { ...this.#scheduler.ticking(), line: this.#queue.waiting(this.#runtime.clock.now()) };
  }

  /** Stops firing jobs. */
  stop(): void {
    this.#scheduler.stop();
  }

  /** Resolves when no run is in progress and everything has been recorded. */
  async idle(): Promise<void> {
    await this.#working;
    await this.#queue.idle();
    await Promise.all([this.#notes.idle(), this.#retries.idle(), this.#fleet?.queue.idle()]);
  }

  /** Admits each due firing to the run queue, which runs the firing's job. */
  async #work(): Promise<void> {
    while (await this.#scheduler.waitForDue()) {
      for (const due of this.#scheduler.due()) {
        this.#notes.missed(due);
        if (due.firing !== undefined) await this.#admit(due.firing);
      }
    }
  }

  /** `isAgain` is true if the firing was admitted once before and has been waiting since. */
  async #admit(firing: Firing, isAgain = false): Promise<void> {
    try {
      if (await this.#admits(firing, isAgain)) return this.#offer(firing, isAgain);
    } catch (error) {
      this.#failed(firing, error);
    }
    this.#done(firing);
  }

  /**
   * Whether to queue the firing. Call this before the firing replaces another one, because a throttled firing must not
   * replace any.
   */
  async #admits(firing: Firing, isAgain: boolean): Promise<boolean> {
    if (firing.attempt !== undefined) return isAgain || this.#retries.admits(firing, firing.attempt);
    const throttled = await this.#throttler.judge(firing.job, firing.at, this.#active().config);
    if (throttled !== undefined) {
      void this.#notes.throttled(firing, throttled).catch((error: unknown) => this.#failed(firing, error));
    } else if (!isAgain) {
      this.#retries.replaceBy(firing);
      this.#waiting.replaceBy(firing);
    }
    return throttled === undefined;
  }

  #offer(firing: Firing, isAgain = false): void {
    const offered = this.#queue.offer(firing, isAgain);
    if (offered.state === 'waiting') {
      const { job, at } = firing;
      this.#runtime.events.emit('firing.waiting', { job: job.name, at, reason: offered.reason });
    } else if (offered.state === 'skipped') {
      this.#skip(firing, offered.reason);
      this.#done(firing);
    } else if (offered.replaced !== undefined) {
      this.#retries.giveUp(offered.replaced);
      this.#done(offered.replaced);
    }
  }

  #done(firing: Firing): void {
    this.#loginWaits.done(firing);
    this.#scheduler.done(firing);
  }

  async #run(run: QueuedRun): Promise<void> {
    try {
      await this.#runFiring(run);
    } catch (error) {
      this.#failed(run.firing, error);
    } finally {
      run.end();
      this.#done(run.firing);
    }
  }

  async #runFiring({ firing, signal, ticket, begin }: QueuedRun): Promise<void> {
    // The firing's row in the store stays unchanged, so that the firing fires again after the next start.
    if (this.#runtime.installation?.look()) return;
    const now = this.#active();
    // If the config changed while a job was queued, the job runs with its new definition. If the job was removed, it
    // doesn't run.
    const job = now.config.jobs.get(firing.job.name);
    if (!isScheduled(job)) return this.#skip(firing, 'the job no longer has a schedule in the config');
    begin();
    const ended = await this.#runner.run({ firing, signal, ticket, job, now });
    if (ended === undefined) return;
    const { outcome } = ended;
    // An attempt has no firing of its own in the history, so record what the attempt waits for before its run is given
    // up.
    if (firing.attempt !== undefined && outcome.state === 'on_hold' && isToWait(firing, outcome.problem))
      await this.#scheduler.deferEnded(firing);
    await this.#retries.ended(firing, job, outcome);
    this.#follow(firing, outcome);
    await ended.taken();
  }

  #follow(firing: Firing, { state, problem }: RunOutcome): void {
    const isOfLogin = this.#loginWaits.defer(firing, problem);
    if (state === 'owed') this.#active().nudge();
    if (firing.attempt !== undefined) return;
    if (state === 'busy') this.#skip(firing, 'a sync or another process is running this job');
    if (state !== 'on_hold') return;
    if (isOfLogin) this.#notes.skipped(firing, loginReason, true);
    else this.#notes.skipped(firing, 'the job is on hold');
  }

  #skip(firing: Firing, reason: string): void {
    if (firing.attempt === undefined) this.#notes.skipped(firing, reason);
    else this.#retries.giveUp(firing);
  }

  /** Handles an error thrown before the firing's run began. */
  #failed(firing: Firing, error: unknown): void {
    // If the installed package was replaced, the error is a result of that. The firing fires again after the next start.
    if (this.#runtime.installation?.look()) return;
    // Another process plans now, and has the firing.
    if (isLeaseLost(error)) return;
    if (this.#retries.defer(firing, { problem: error, began: false })) return;
    this.#retries.giveUp(firing);
    this.#fault('a firing failed', error, { job: firing.job.name, at: firing.at });
  }
}

const isScheduled = (job: Job | undefined): job is Job => job?.schedule !== undefined && job.enabled;
