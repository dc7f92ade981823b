import type { Config } from '../config/config.ts';
import { build, commitText } from '../lib/build.ts';
import { showTimesIn } from '../lib/time-text.ts';
import type { Timer } from '../schedule/timer.ts';
import { ActiveConfig } from './active-config.ts';
import { followAccounts, openGateway, openLogins, type Runtime } from './compose.ts';
import { isOfDisk } from './disk-retries.ts';
import type { Firing, PassedOver } from './firing.ts';
import { FiringNotes } from './firing-notes.ts';
import { startHistoryPruning } from './history-pruning.ts';
import { isToWait, LoginWaits } from './login-holds/login-waits.ts';
import { recoverInterrupted } from './recover-interrupted.ts';
import { Retrier } from './retry/retrier.ts';
import { runJob } from './run-job.ts';
import type { RunOutcome } from './run-outcome.ts';
import { type QueuedRun, RunQueue } from './run-queue.ts';
import { Scheduler, type Ticking } from './scheduler.ts';
import { Throttler } from './throttler.ts';

export interface DaemonOptions {
  readonly runtime: Runtime;
  readonly config: Config;
  /** Where time is not that of this machine, what ticks with it. */
  readonly timer?: Timer;
}

/** Firings that come to nothing for one reason are one note in the history. */
const loginReason = 'the login of its source was refused and is on hold; it runs when that works';

/**
 * The long-running worker: fires jobs when they are due, delivers what they make, takes a new config whole. What it
 * knows is in the store, so that it may be killed at any moment.
 */
export class Daemon {
  readonly #runtime: Runtime;
  readonly #scheduler: Scheduler;
  readonly #line: RunQueue;
  readonly #throttler: Throttler;
  readonly #retries: Retrier;
  readonly #loginWaits: LoginWaits;
  readonly #stop = new AbortController();
  /** Former configs whose runs have not ended yet. */
  readonly #retiring = new Set<Promise<void>>();
  #now: ActiveConfig;
  readonly #notes: FiringNotes;
  /** Configs are taken over one after the other. */
  #adopting: Promise<void> = Promise.resolve();

  constructor({ runtime, config, timer }: DaemonOptions) {
    this.#runtime = runtime;
    this.#now = new ActiveConfig({ config, gateway: runtime.gateway, logins: runtime.logins });
    const { store, clock, events } = runtime;
    this.#throttler = new Throttler({ store, clock, emit: events.emit });
    this.#notes = new FiringNotes({ runtime, failed: (...fault) => this.#fault(...fault) });
    const failed = (error: unknown): void => this.#fault('the timer failed', error);
    const ticking = timer === undefined ? {} : { timer };
    runtime.events.listen((...[name, facts]) => {
      if (name === 'request.sent') this.#now.sent(facts.account);
      if (name === 'account.held') this.#now.held(facts.account, facts.refusals);
      if (name === 'source.answered') this.#retries.answered(facts.source);
    });
    startHistoryPruning(runtime);
    const { signal: exchanged } = runtime.installation ?? {};
    exchanged?.addEventListener('abort', () => this.#stop.abort(exchanged.reason), { once: true });
    this.#line = new RunQueue({
      run: (place) => this.#run(place),
      skip: (firing, { reason, isCovered }) => this.#skip(firing, reason, isCovered),
      wait: ({ job, at }, reason) => events.emit('firing.waiting', { job: job.name, at, reason }),
      failed: (firing, error) => this.#failed(firing, error),
      isSuspect: (job) => runtime.healed.suspects.has(job),
      stop: this.#stop.signal,
    });
    this.#loginWaits = new LoginWaits({
      ...{ gate: runtime.loginGate, clock, fire: (firing) => this.#line.offer(firing), stop: this.#stop.signal },
      sourceOf: (job) => this.#now.config.jobs.get(job)?.extract?.source,
      failed: (error) => this.#fault('the check of logins on hold failed', error),
    });
    this.#line.setConcurrency(config.concurrency);
    const fire = (firing: Firing): void => this.#fire(firing);
    const passOver = (passed: PassedOver): void => this.#notes.missed(passed);
    const clockSet = (by: number): void => this.#notes.clockSet(by);
    this.#scheduler = new Scheduler({ store, clock, failed, fire, passOver, clockSet, ...ticking });
    this.#retries = new Retrier({
      ...{ store, clock, emit: events.emit, scheduler: this.#scheduler, stop: this.#stop.signal },
      fire: (firing) => this.#line.offer(firing),
      failed: (message, error) => this.#fault(message, error),
      nextFiring: (job, after) => this.#throttler.nextFiring(job, after),
    });
  }

  /** Resumes the schedules, sends what is owed, fires what was missed. What is told of the config goes into the log. */
  async start(told: { readonly config_sha256?: string } = {}): Promise<void> {
    const { config } = this.#now;
    await recoverInterrupted(config.jobs, this.#runtime);
    await this.#retries.load(config.jobs);
    await this.#scheduler.adopt(config.jobs.values());
    const scheduled = this.#scheduler.next().length;
    const owed = (await this.#runtime.store.outbox.inState('owed')).length;
    this.#runtime.events.emit('daemon.started', {
      version: build.version,
      commit: commitText,
      node: process.version,
      pid: process.pid,
      ...told,
      jobs: config.jobs.size,
      scheduled,
      owed,
    });
    await this.#sayStranded();
    this.#now.deliver();
    this.#scheduler.start();
  }

  /**
   * Puts a new config in force, whole: schedules, jobs, destinations; where that fails, the old one stays. Runs under way
   * end with the one they began with. The state folder cannot be exchanged under a running daemon; whoever calls this
   * makes sure that it is the same.
   */
  adopt(config: Config): Promise<void> {
    const adopted = this.#adopting.then(() => this.#adopt(config));
    this.#adopting = adopted.catch(() => undefined);
    return adopted;
  }

  /** The config that is in force now. */
  get config(): Config {
    return this.#now.config;
  }

  /** How the schedules are doing. */
  ticking(): Ticking {
    return { ...this.#scheduler.ticking(), line: this.#line.waiting(this.#runtime.clock.now()) };
  }

  /** Ends within a few seconds. Running extracts are given up and begun anew at the next start; owed payloads stay owed. */
  async stop(reason: string): Promise<void> {
    this.#runtime.events.emit('daemon.stopping', { reason });
    this.#scheduler.stop();
    this.#stop.abort(new Error(reason));
    await this.#adopting;
    await Promise.all([this.#now.pause(), this.#line.idle()]);
    await Promise.all([this.#notes.idle(), this.#retries.idle()]);
    await Promise.all([this.#now.drain(), ...this.#retiring]);
  }

  async #adopt(config: Config): Promise<void> {
    const { events } = this.#runtime;
    const old = this.#now;
    await old.pause();
    if (this.#stop.signal.aborted) return;
    let next: ActiveConfig | undefined;
    try {
      next = await this.#open(config);
      await this.#scheduler.adopt(config.jobs.values());
      await this.#retries.adopt(config);
    } catch (error) {
      await next?.drain();
      old.deliver();
      throw error;
    }
    this.#now = next;
    showTimesIn(config.timezone);
    this.#line.setConcurrency(config.concurrency);
    this.#retire(old);
    if (this.#stop.signal.aborted) return;
    this.#now.deliver();
    events.emit('config.reloaded', { file: config.file, jobs: config.jobs.size });
    await this.#sayStranded();
    this.#scheduler.look();
  }

  async #open(config: Config): Promise<ActiveConfig> {
    const { store, events, clock } = this.#runtime;
    // Another process may have taken the new keys up already; what was sent since with the old ones counts as well.
    await followAccounts(this.#runtime, this.#now.config);
    const gateway = await openGateway({ store, events, clock, config });
    return new ActiveConfig({ config, gateway, logins: await openLogins({ store, events, clock, config }) });
  }

  #retire(old: ActiveConfig): void {
    const retired = old
      .drain()
      .catch((error: unknown) => this.#fault('failed to release the previous config', error))
      .finally(() => this.#retiring.delete(retired));
    this.#retiring.add(retired);
  }

  /** What is owed to a destination that the config lacks stays owed; somebody should know. */
  async #sayStranded(): Promise<void> {
    const { store, events } = this.#runtime;
    const owed = await store.outbox.inState('owed');
    const stranded = owed.filter(({ destination }) => !this.#now.config.destinations.has(destination));
    for (const [destination, rows] of Map.groupBy(stranded, (row) => row.destination)) {
      events.emit('config.stranded', { destination, payloads: rows.length });
    }
  }

  /** One that the day has no room for takes no other's place: it is passed over before anything is ended for it. */
  #fire(firing: Firing): void {
    if (firing.attempt !== undefined) {
      if (this.#retries.admits(firing, firing.attempt)) this.#line.offer(firing);
      else firing.done();
      return;
    }
    if (!this.#replacesAny(firing)) {
      this.#line.offer(firing);
      return;
    }
    const decided = this.#throttler.judge(firing.job, firing.at, this.#now.config).then(async (throttled) => {
      if (throttled === undefined) return this.#take(firing);
      await this.#notes.throttled(firing, throttled);
      firing.done();
    });
    this.#notes.write(decided.catch((error: unknown) => this.#failed(firing, error)));
  }

  #replacesAny(firing: Firing): boolean {
    return this.#line.replaces(firing) || this.#retries.isReplaced(firing) || this.#loginWaits.isReplaced(firing);
  }

  #take(firing: Firing): void {
    this.#retries.replaceBy(firing);
    this.#loginWaits.replaceBy(firing);
    this.#line.offer(firing);
  }

  async #run({ firing, signal, ticket: seat, begin }: QueuedRun): Promise<void> {
    // Its row in the store stays as it is: the next start fires it.
    if (this.#runtime.installation?.look()) return;
    const now = this.#now;
    // A job that stood in line while the config was exchanged runs as it is now, or not at all.
    const job = now.config.jobs.get(firing.job.name);
    if (job?.schedule === undefined || !job.enabled) {
      return this.#skip(firing, 'the config does not fire this job any more', true);
    }
    const isFirst = firing.attempt === undefined;
    const throttled = isFirst ? await this.#throttler.judge(job, firing.at, now.config) : undefined;
    if (throttled !== undefined) return this.#notes.throttled(firing, throttled);
    begin();
    const run = runJob({
      runtime: { ...this.#runtime, gateway: now.gateway, logins: now.logins },
      config: now.config,
      job,
      origin: 'schedule',
      signal,
      logicalAt: firing.logicalAt,
      firedAt: firing.at,
      settle: (parts) => firing.begin(parts),
      failed: async (parts, problem) => {
        if (isToWait(firing, problem) || isOfDisk(problem)) await firing.defer(parts);
      },
      attempt: this.#retries.attemptOf(firing, job),
      seat,
    });
    const outcome = await now.follow(run);
    // An attempt has no firing of its own in the history: what it waits for is written down before its run is given up.
    if (!isFirst && outcome.state === 'held' && isToWait(firing, outcome.problem))
      await firing.defer(this.#runtime.store);
    await this.#retries.ended(firing, job, outcome);
    await this.#follow(firing, outcome);
  }

  async #follow(firing: Firing, { state, problem, run }: RunOutcome): Promise<void> {
    const isOfLogin = this.#loginWaits.defer(firing, problem);
    if (state === 'owed') this.#now.nudge();
    const { store } = this.#runtime;
    if (state === 'stopped' && this.#stop.signal.aborted) {
      const isWaiting = (await store.retries.find(firing.job.name))?.run === run;
      if (!isWaiting) await firing.defer(store);
    }
    if (firing.attempt !== undefined) return;
    const isCovered = this.#line.hasWaiting(firing.job.name);
    if (state === 'busy') this.#skip(firing, 'another process is running this job', isCovered);
    if (state !== 'held') return;
    if (isOfLogin) this.#notes.skipped(firing, loginReason, { isCovered, isDeferred: true });
    else this.#notes.skipped(firing, 'the job is on hold', { isCovered });
  }

  #skip(firing: Firing, reason: string, isCovered: boolean): void {
    if (firing.attempt === undefined) this.#notes.skipped(firing, reason, { isCovered });
    else this.#retries.giveUp(firing);
  }

  /** A firing that threw on its way to a run. */
  #failed(firing: Firing, error: unknown): void {
    if (this.#retries.defer(firing, { problem: error, began: false })) return;
    this.#retries.giveUp(firing);
    this.#fault('a firing failed', error, { job: firing.job.name, at: firing.at });
  }

  #fault(message: string, error: unknown, facts: object = {}): void {
    this.#runtime.log.error(message, { ...facts, error: String(error) });
  }
}
