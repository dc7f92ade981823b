import type { Config } from '../../config/config.ts';
import type { Timer } from '../../schedule/timer.ts';
import type { Runtime } from '../compose.ts';
import type { ActiveConfig } from '../config/active-config.ts';
import { isToWait, LoginWaits } from '../login-holds/login-waits.ts';
import { Retrier } from '../retry/retrier.ts';
import { runJob } from '../run/run-job.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { Throttler } from '../throttle/throttler.ts';
import { isOfDisk } from './disk-retries.ts';
import type { Firing } from './firing.ts';
import { FiringNotes } from './firing-notes.ts';
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
}

/** A fixed string, because consecutive firings that are skipped for the same reason share one row in the history. */
const loginReason = "the source's login was refused and is on hold; the job will run when the login works again";

/** The main loop. It moves due firings through the run queue and follows each run until it ends. */
export class FiringLoop {
  readonly #runtime: Runtime;
  readonly #active: () => ActiveConfig;
  readonly #stop: AbortSignal;
  readonly #fault: FiringLoopOptions['fault'];
  readonly #scheduler: Scheduler;
  readonly #queue: RunQueue;
  readonly #throttler: Throttler;
  readonly #waiting: WaitingFirings;
  readonly #retries: Retrier;
  readonly #loginWaits: LoginWaits;
  readonly #notes: FiringNotes;
  #working: Promise<void> = Promise.resolve();

  constructor({ runtime, active, timer, stop, fault }: FiringLoopOptions) {
    const { store, clock, events, healed, loginGate: gate } = runtime;
    this.#runtime = runtime;
    this.#active = active;
    this.#stop = stop;
    this.#fault = fault;
    this.#throttler = new Throttler({ store, clock, emit: events.emit });
    this.#scheduler = new Scheduler({
      ...{ store, clock, timer },
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
  }

  /** Resumes the schedules and the waiting retries. Returns the number of jobs that have a schedule. */
  async load({ jobs, concurrency }: Config): Promise<number> {
    this.#queue.setConcurrency(concurrency);
    await this.#retries.load(jobs);
    await this.#scheduler.adopt(jobs.values());
    return this.#scheduler.next().length;
  }

  /** Adopts a config's schedules, all or nothing. Firing starts when {@link resume} is called. */
  async adopt(config: Config): Promise<void> {
    await this.#scheduler.adopt(config.jobs.values());
    await this.#retries.adopt(config);
  }

  /** Fires all jobs that are due according to the adopted config. */
  resume({ concurrency }: Config): void {
    this.#queue.setConcurrency(concurrency);
    this.#scheduler.look();
  }

  start(): void {
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
    await Promise.all([this.#notes.idle(), this.#retries.idle()]);
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
      if (await this.#admits(firing, isAgain)) return this.#offer(firing);
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

  #offer(firing: Firing): void {
    const offered = this.#queue.offer(firing);
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

  async #runFiring({ firing, signal, ticket: seat, begin }: QueuedRun): Promise<void> {
    // The firing's row in the store stays unchanged, so that the firing fires again after the next start.
    if (this.#runtime.installation?.look()) return;
    const now = this.#active();
    // If the config changed while a job was queued, the job runs with its new definition. If the job was removed, it
    // doesn't run.
    const job = now.config.jobs.get(firing.job.name);
    if (job?.schedule === undefined || !job.enabled) {
      return this.#skip(firing, 'the job no longer has a schedule in the config');
    }
    begin();
    const run = runJob({
      runtime: { ...this.#runtime, gateway: now.gateway, logins: now.logins },
      config: now.config,
      job,
      origin: 'schedule',
      signal,
      logicalAt: firing.logicalAt,
      firedAt: firing.at,
      settle: (parts) => this.#scheduler.begin(firing, parts),
      failed: async (parts, problem) => {
        if (isToWait(firing, problem) || isOfDisk(problem)) await this.#scheduler.defer(firing, parts);
      },
      attempt: this.#retries.attemptOf(firing, job),
      seat,
    });
    const outcome = await now.follow(run);
    // An attempt has no firing of its own in the history, so record what the attempt waits for before its run is given
    // up.
    if (firing.attempt !== undefined && outcome.state === 'on_hold' && isToWait(firing, outcome.problem))
      await this.#scheduler.defer(firing, this.#runtime.store);
    await this.#retries.ended(firing, job, outcome);
    await this.#follow(firing, outcome);
  }

  async #follow(firing: Firing, { state, problem, run }: RunOutcome): Promise<void> {
    const isOfLogin = this.#loginWaits.defer(firing, problem);
    if (state === 'owed') this.#active().nudge();
    const { store } = this.#runtime;
    if (state === 'stopped' && this.#stop.aborted) {
      const isWaiting = (await store.retries.find(firing.job.name))?.run === run;
      if (!isWaiting) await this.#scheduler.defer(firing, store);
    }
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
    if (this.#retries.defer(firing, { problem: error, began: false })) return;
    this.#retries.giveUp(firing);
    this.#fault('a firing failed', error, { job: firing.job.name, at: firing.at });
  }
}
