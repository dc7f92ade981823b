import type { Config, Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { graceMs } from '../../schedule/misfire.ts';
import { spanOf } from '../../state/runs/past-attempts.ts';
import type { RetryRow } from '../../state/tables.ts';
import { DiskRetries, type DiskRetriesOptions } from '../firing/disk-retries.ts';
import { type Firing, newRunOf } from '../firing/firing.ts';
import type { Scheduler } from '../firing/scheduler.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { type Attempt, attemptOf } from './attempt.ts';
import { isSameRun } from './is-same-run.ts';
import { isRead } from './pending-attempts.ts';

export interface RetrierOptions extends DiskRetriesOptions {
  readonly clock: Clock;
  /** The scheduler, which plans attempts and starts them when they're due. */
  readonly scheduler: Scheduler;
  /** Returns when a job fires next after a given time, excluding throttled firings; null: never. */
  readonly nextFiring: (job: Job, after: number) => number | null;
  /** Called when a write to the state fails. */
  readonly failed: (message: string, error: unknown) => void;
}

/** Retries a daemon's failed runs. */
export class Retrier {
  readonly #options: RetrierOptions;
  readonly #disk: DiskRetries;
  /** Writes in progress. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: RetrierOptions) {
    this.#options = options;
    this.#disk = new DiskRetries(options);
  }

  /**
   * Loads the retries that were still waiting when the previous process exited. Call this before the schedules are
   * loaded. The retries of the jobs in `busy` are in progress.
   */
  async load(jobs: ReadonlyMap<string, Job>, busy: ReadonlySet<string>): Promise<void> {
    const { store, scheduler } = this.#options;
    for (const row of await store.retries.all()) {
      const job = jobs.get(row.job);
      if (busy.has(row.job)) continue;
      if (job !== undefined && canRetry(job)) scheduler.attempts.add({ job, row });
      else await this.#drop(row);
    }
  }

  /**
   * Applies a new config: immediately retries runs whose definition has changed, and drops the retries of jobs that no
   * longer have a schedule.
   */
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
    await this.#move(changed);
  }

  /** Whether to make the attempt. Drops an attempt that is too late. */
  admits(firing: Firing, attempt: RetryRow): boolean {
    if (!this.#isTooLate(firing, attempt)) return true;
    this.giveUp(firing);
    return false;
  }

  /** A new firing cancels its job's waiting retry. */
  replaceBy(firing: Firing): void {
    const waiting = this.#options.scheduler.attempts.find(firing.job.name);
    if (waiting !== undefined) this.#write(this.#drop(waiting.row));
  }

  /** The attempt for a firing's run; undefined if runs of its job aren't retried. */
  attemptOf({ at, logicalAt, attempt: row }: Firing, job: Job): Attempt | undefined {
    const { clock } = this.#options;
    const now = (): number => clock.now();
    const next = (since: number): number | null => this.nextFiringOf(job, since);
    return attemptOf({ job, row, now, firedAt: at, logicalAt, isKept: true, nextFiring: next });
  }

  /** When the job fires next, so that the retries of a run whose first attempt began at `since` end. */
  nextFiringOf(job: Job, since: number): number | null {
    const { clock, nextFiring, scheduler } = this.#options;
    // If missed firings of this job wait for its run, retries end at the first regular firing after the run's first
    // attempt began, even if that firing has passed and waits too.
    return nextFiring(job, scheduler.hasBacklog(job.name) ? since : clock.now());
  }

  /**
   * Handles the outcome of a firing's run: plans the next attempt, and releases the retries that were waiting for the
   * source.
   */
  async ended(firing: Firing, job: Job, outcome: RunOutcome): Promise<void> {
    const { scheduler, clock } = this.#options;
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
        await this.#move([row]);
        attempts.add({ job, row });
      } else {
        attempts.forget(firing.attempt.run);
        if (outcome.run === undefined && outcome.state !== 'failed') await this.#drop(firing.attempt);
      }
    }
    if (outcome.state === 'failed') {
      // The run's row in the fleet's queue is deleted next, so the firing can't wait for that row's outcome again.
      const { queuedAs: _, ...next } = firing;
      this.defer(next, { problem: outcome.problem, began: outcome.run !== undefined });
    }
    // Each check reads the whole plan. With a large config, a check after every run would take too long.
    if (!attempts.isEmpty()) scheduler.look();
  }

  /** A check of a source succeeded. */
  answered(source: string): void {
    const { scheduler } = this.#options;
    scheduler.attempts.release(source);
    scheduler.look();
  }

  /** Defers a firing that failed because of a disk problem. Returns false for any other problem. */
  defer(firing: Firing, why: { readonly problem: unknown; readonly began: boolean }): boolean {
    this.#done(firing.job);
    return this.#disk.defer(why.began ? newRunOf(firing, true) : firing, why);
  }

  /** Drops a retry, so that its run fails with the last attempt's problem. */
  giveUp({ job, attempt }: Firing): void {
    if (attempt === undefined) return;
    this.#done(job);
    this.#write(this.#drop(attempt));
  }

  /** Resolves when all changes have been written to the state. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  #done(job: Job): void {
    const { scheduler, clock } = this.#options;
    scheduler.attempts.done(job, clock.now());
  }

  /**
   * Whether the retry is too late: the job's next firing is due or, under the `skip` misfire policy, the retry is
   * overdue by more than the grace period.
   */
  #isTooLate({ job }: Firing, { next_at }: RetryRow): boolean {
    const { schedule } = job;
    if (schedule === undefined) return true;
    const now = this.#options.clock.now();
    const next = this.#options.nextFiring(job, next_at);
    // The time during which the retry waited for its source's probe isn't counted as overdue.
    const since = Math.max(next_at, this.#options.scheduler.attempts.freeSince(job));
    const isSkipped = schedule.misfire?.policy === 'skip' && now - since > graceMs;
    return isSkipped || (next !== null && next <= now);
  }

  async #postpone(source: string, row: RetryRow): Promise<void> {
    const { scheduler } = this.#options;
    const { moved, over } = scheduler.attempts.postpone(source, row);
    await this.#move(moved);
    for (const { row: late } of over) await this.#drop(late);
  }

  /** Another process that plans now may have planned the attempts otherwise, so only if this one still plans. */
  async #move(rows: readonly RetryRow[]): Promise<void> {
    if (rows.length > 0) await this.#options.scheduler.transaction(({ retries }) => retries.move(rows));
  }

  async #drop(row: RetryRow): Promise<void> {
    const { store, scheduler } = this.#options;
    if (scheduler.attempts.find(row.job)?.row.run === row.run) scheduler.attempts.delete(row.job);
    scheduler.attempts.forget(row.run);
    await store.settle(`retry ${row.run}`, async ({ retries, leases }) => {
      await scheduler.assertPlanner({ leases });
      if ((await retries.find(row.job))?.run === row.run) await retries.drop(row.job);
    });
    await this.#tellEnded(row);
    scheduler.goOn(row.job, row.fired_at);
  }

  /** Emits the end of a run that gets no further attempt. */
  async #tellEnded({ job, run }: RetryRow): Promise<void> {
    const ended = await this.#options.store.runs.find(run);
    if (ended?.state !== 'failed') return;
    const { requests, attempts, code, message, next } = ended;
    const failure = { ...(code === null ? {} : { code }), ...(message === null ? {} : { message }) };
    const figures = { rows: 0, bytes: 0, requests, milliseconds: spanOf(ended).took_ms ?? 0, attempts };
    const advice = next === null ? {} : { next };
    this.#options.emit('run.finished', { job, run, outcome: 'failed', ...figures, ...failure, ...advice });
  }

  #write(work: Promise<void>): void {
    const written = work.catch((error: unknown) => this.#options.failed('failed to record the end of a run', error));
    this.#writing = Promise.all([this.#writing, written]);
  }
}

const canRetry = ({ retry, schedule, enabled }: Job): boolean =>
  retry !== undefined && schedule !== undefined && enabled;
