import type { Config, Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Emit } from '../../lib/events.ts';
import { graceMs } from '../../schedule/misfire.ts';
import { spanOf } from '../../state/runs/past-attempts.ts';
import type { Store } from '../../state/store.ts';
import type { RetryRow } from '../../state/tables.ts';
import type { RunEvents } from '../events.ts';
import { DiskRetries } from '../firing/disk-retries.ts';
import { type Firing, newRunOf } from '../firing/firing.ts';
import type { Scheduler } from '../firing/scheduler.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { type Attempt, attemptOf } from './attempt.ts';
import { isSameRun } from './is-same-run.ts';
import { isRead } from './pending-attempts.ts';

export interface RetrierOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit<RunEvents>;
  /** Takes the plan of attempts, and fires them. */
  readonly scheduler: Scheduler;
  /** When a job fires next after an instant, firings left out that it has no room for; null: never. */
  readonly nextFiring: (job: Job, after: number) => number | null;
  /** Fires again what a full disk was in the way of. */
  readonly fire: (firing: Firing) => void;
  /** Told of what the state did not take. */
  readonly failed: (message: string, error: unknown) => void;
  /** The daemon stops. */
  readonly stop: AbortSignal;
}

/** Takes failed firings of a daemon to their next attempt, or to their end. */
export class Retrier {
  readonly #options: RetrierOptions;
  readonly #disk: DiskRetries;
  /** What is being written down. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: RetrierOptions) {
    this.#options = options;
    this.#disk = new DiskRetries(options);
  }

  /** Takes up what waited when the last process ended. To be called before the schedules are taken over. */
  async load(jobs: ReadonlyMap<string, Job>): Promise<void> {
    const { store, scheduler } = this.#options;
    for (const row of await store.retries.all()) {
      const job = jobs.get(row.job);
      if (job !== undefined && canRetry(job)) scheduler.attempts.add({ job, row });
      else await this.#drop(row);
    }
  }

  /** Goes on under a new config: what runs differently now is tried at once, what is not scheduled any more not again. */
  async adopt({ jobs }: Config): Promise<void> {
    const { attempts } = this.#options.scheduler;
    const now = this.#options.clock.now();
    const changed: RetryRow[] = [];
    for (const { job: former, row } of attempts.all()) {
      const job = jobs.get(row.job);
      if (job === undefined || !canRetry(job)) {
        await this.#drop(row);
        continue;
      }
      const isSame = isSameRun(former, job);
      const next = isSame ? row : { ...row, next_at: Math.min(row.next_at, Math.round(now)), facts: null };
      attempts.add({ job, row: next });
      if (!isSame) changed.push(next);
    }
    await this.#options.store.retries.move(changed);
  }

  /** Whether an attempt is to be made; one that comes too late is given up. */
  admits(firing: Firing, attempt: RetryRow): boolean {
    if (!this.#isTooLate(firing, attempt)) return true;
    this.giveUp(firing);
    return false;
  }

  /** A new firing ends what waits for its job. */
  replaceBy(firing: Firing): void {
    this.#disk.replaceBy(firing);
    const waiting = this.#options.scheduler.attempts.find(firing.job.name);
    if (waiting !== undefined) this.#write(this.#drop(waiting.row));
  }

  /** The attempt that a firing is, for its run; undefined if runs of its job are not tried again. */
  attemptOf({ at, logicalAt, attempt: row }: Firing, job: Job): Attempt | undefined {
    const { clock, nextFiring, scheduler } = this.#options;
    const now = (): number => clock.now();
    // What was missed besides waits for this run, but not past the next regular firing.
    const next = (since: number): number | null => nextFiring(job, scheduler.hasBacklog(job.name) ? since : now());
    return attemptOf({ job, row, now, firedAt: at, logicalAt, isKept: true, nextFiring: next });
  }

  /** What came of a firing's run, as it was told: its next attempt is planned, and what waited for its source goes. */
  async ended(firing: Firing, job: Job, outcome: RunOutcome): Promise<void> {
    const { scheduler, store, clock } = this.#options;
    const { attempts } = scheduler;
    const source = job.extract?.source.name;
    const wasProbe = attempts.isProbe(job);
    attempts.done(job, clock.now());
    if (source !== undefined && isRead(outcome)) attempts.release(source);
    if (outcome.retry !== undefined) {
      attempts.add({ job, row: outcome.retry });
      if (wasProbe && source !== undefined) await this.#postpone(source, outcome.retry);
    } else if (firing.attempt !== undefined) {
      if (outcome.state === 'busy') {
        const row = { ...firing.attempt, next_at: Math.round(clock.now()) + (job.retry?.firstMs ?? 0) };
        await store.retries.move([row]);
        attempts.add({ job, row });
      } else {
        attempts.forget(firing.attempt.run);
        if (outcome.run === undefined && outcome.state !== 'failed') await this.#drop(firing.attempt);
      }
    }
    if (outcome.state === 'failed') this.defer(firing, { problem: outcome.problem, began: outcome.run !== undefined });
    scheduler.look();
  }

  /** A look at a source had an answer. */
  answered(source: string): void {
    const { scheduler } = this.#options;
    scheduler.attempts.release(source);
    scheduler.look();
  }

  /** Fires again when the disk works what came to nothing because of it. False if the problem is another one. */
  defer(firing: Firing, why: { readonly problem: unknown; readonly began: boolean }): boolean {
    this.#done(firing.job);
    return this.#disk.defer(why.began ? newRunOf(firing, true) : firing, why);
  }

  /** An attempt comes to nothing: its run has failed with the last one. */
  giveUp({ job, attempt }: Firing): void {
    if (attempt === undefined) return;
    this.#done(job);
    this.#write(this.#drop(attempt));
  }

  /** Resolves when all of it is written down. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  #done(job: Job): void {
    const { scheduler, clock } = this.#options;
    scheduler.attempts.done(job, clock.now());
  }

  /** The next firing has come by now or, if missed runs are skipped, nothing ran for too long. */
  #isTooLate({ job }: Firing, { next_at }: RetryRow): boolean {
    const { schedule } = job;
    if (schedule === undefined) return true;
    const now = this.#options.clock.now();
    const next = this.#options.nextFiring(job, next_at);
    // Behind the probe of its source it was not missed: it had to wait.
    const since = Math.max(next_at, this.#options.scheduler.attempts.freeSince(job));
    const isSkipped = schedule.misfire?.policy === 'skip' && now - since > graceMs;
    return isSkipped || (next !== null && next <= now);
  }

  async #postpone(source: string, row: RetryRow): Promise<void> {
    const { store, scheduler } = this.#options;
    const { moved, over } = scheduler.attempts.postpone(source, row);
    await store.retries.move(moved);
    for (const { row: late } of over) await this.#drop(late);
  }

  async #drop(row: RetryRow): Promise<void> {
    const { store, scheduler } = this.#options;
    if (scheduler.attempts.find(row.job)?.row.run === row.run) scheduler.attempts.delete(row.job);
    scheduler.attempts.forget(row.run);
    await store.settle(`retry ${row.run}`, async ({ retries }) => {
      if ((await retries.find(row.job))?.run === row.run) await retries.drop(row.job);
    });
    await this.#tellEnded(row);
    scheduler.goOn(row.job, row.fired_at);
  }

  /** Its run ended without another attempt. */
  async #tellEnded({ job, run }: RetryRow): Promise<void> {
    const ended = await this.#options.store.runs.find(run);
    if (ended?.state !== 'failed') return;
    const { requests, attempts, code, message, next } = ended;
    const said = { ...(code === null ? {} : { code }), ...(message === null ? {} : { message }) };
    const figures = { rows: 0, bytes: 0, requests, milliseconds: spanOf(ended).took_ms ?? 0, attempts };
    const advice = next === null ? {} : { next };
    this.#options.emit('run.finished', { job, run, outcome: 'failed', ...figures, ...said, ...advice });
  }

  #write(work: Promise<void>): void {
    const written = work.catch((error: unknown) => this.#options.failed('failed to record the end of a run', error));
    this.#writing = Promise.all([this.#writing, written]);
  }
}

const canRetry = ({ retry, schedule, enabled }: Job): boolean =>
  retry !== undefined && schedule !== undefined && enabled;
