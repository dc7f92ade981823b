import type { Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { decideMisfire } from '../../schedule/misfire.ts';
import { type Plan, resumePlan } from '../../schedule/plan.ts';
import { nominalOf, type Schedule } from '../../schedule/schedule.ts';
import { createTimer, type Due, type Timer } from '../../schedule/timer.ts';
import type { Lease } from '../../state/processes/leases.ts';
import type { Move } from '../../state/runs/schedules.ts';
import type { Repositories, Store } from '../../state/store.ts';
import type { DeferredFiringRow, ScheduleRow } from '../../state/tables.ts';
import { PendingAttempts } from '../retry/pending-attempts.ts';
import type { DueFirings, Firing, FiringRecords } from './firing.ts';
import { OpenFirings } from './open-firings.ts';
import { type ScheduledJob, ScheduledJobs } from './scheduled-jobs.ts';

export interface SchedulerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly failed: (error: unknown) => void;
  /** Called with the difference in milliseconds when the clock was set. Must not throw. */
  readonly clockSet?: (by: number) => void;
  readonly timer?: Timer;
  /** The lease under which this process plans. If it's absent, no other process can plan. */
  readonly lease?: Lease | undefined;
}

/** The observable state of the scheduler's timer. All times are in milliseconds. */
export interface Ticking {
  /** Time since the plan was last checked. Undefined while the timer isn't running. */
  readonly silence: number | undefined;
  /** How overdue the first firing is; 0 if it isn't overdue. */
  readonly overdue: number;
  readonly scheduled: number;
  /** The number of accepted firings that haven't started, and how overdue the oldest one is. */
  readonly line?: { readonly firings: number; readonly oldest: number };
}

/** Tracks when each job is due next. The timer uses the times in memory; the next start uses those in the store. */
export class Scheduler {
  readonly #given: SchedulerOptions;
  readonly #timer: Timer;
  readonly #planned: ScheduledJobs;
  #hasResumed = false;
  /** Jobs whose firings are recorded as deferred. */
  readonly #deferred = new Set<string>();
  /** Waiting retries. They're kept separate from the firings. */
  readonly attempts = new PendingAttempts();
  readonly #open = new OpenFirings();
  /** Firings that have become due but haven't been fetched yet. */
  #cameDue: DueFirings[] = [];
  #wake: (() => void) | undefined;
  #isStopped = false;

  constructor(given: SchedulerOptions) {
    this.#given = given;
    this.#planned = new ScheduledJobs(given.clock);
    this.#timer = given.timer ?? createTimer(given.clock);
  }

  /** Adopts a config's jobs, all or nothing. Unchanged schedules continue. Due firings start at the next check. */
  async adopt(jobs: Iterable<Job>): Promise<void> {
    const wanted = [...jobs].flatMap(({ schedule, ...job }) =>
      schedule === undefined || !job.enabled ? [] : [{ job: { ...job, schedule }, schedule }],
    );
    const fresh = await this.#given.store.transaction((parts) => this.#planAfresh(wanted, parts));
    // Uses the current plan, because a firing may have advanced the plan while this method wrote to the store.
    const planned = wanted.map(({ job, schedule }) => {
      const known = this.#planned.unedited(job.name, schedule);
      return { ...(known ?? this.#begun(job.name, fresh.get(job.name)!)), job, schedule };
    });
    this.#planned.replace(planned);
    this.#hasResumed = true;
  }

  /** While a job is waiting for the retry of a missed firing, its other missed firings also wait. */
  #begun(name: string, plan: Plan): Pick<ScheduledJob, 'plan' | 'waitsFor'> {
    const attempt = this.attempts.find(name)?.row;
    return this.#planned.isDue(plan) && attempt?.logical_at != null ? { plan, waitsFor: attempt.fired_at } : { plan };
  }

  /** Whether the job has missed firings that are waiting for their turn. */
  hasBacklog(name: string): boolean {
    return this.#planned.hasBacklog(name);
  }

  /** Fires all due jobs, if the scheduler has been started. */
  look(): void {
    this.#timer.look();
  }

  /** Returns the firings that have become due since the last call, in chronological order. */
  due(): DueFirings[] {
    return this.#cameDue.splice(0);
  }

  /** Resolves to true when a firing is {@link due}, or to false when the scheduler stops. */
  async waitForDue(): Promise<boolean> {
    if (this.#cameDue.length === 0 && !this.#isStopped) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return !this.#isStopped;
  }

  /** Call this when a firing is done, whatever its result, so that the job's other missed firings can continue. */
  done({ job, at, open }: Firing): void {
    if (open !== undefined) this.#open.delete(job.name, open);
    this.goOn(job.name, at);
  }

  /** If the job's next missed firing is waiting for the firing at this time, releases it unless a retry follows. */
  goOn(name: string, at: number): void {
    const planned = this.#planned.find(name);
    if (planned?.waitsFor !== at || this.attempts.has(name)) return;
    planned.waitsFor = undefined;
    this.#timer.look();
  }

  start(): void {
    this.#timer.start({
      dueAt: () => this.#dueAt(),
      fire: ({ job, at, isAttempt }) => this.#fire(isAttempt ? this.#takeAttempt(job) : this.#take(job, at)),
      jumped: (by) => {
        this.#replan();
        if (by !== 0) this.#given.clockSet?.(by);
      },
      failed: this.#given.failed,
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer.stop();
    this.#wake?.();
  }

  /** Returns the next firing of each job, earliest first. */
  next(): { job: string; at: number }[] {
    return this.#planned.next();
  }

  ticking(): Ticking {
    return { silence: this.#timer.silence(), ...this.#planned.counts() };
  }

  /** Plans and stores new and changed schedules. Deletes the stored schedules of all other jobs. */
  async #planAfresh(
    wanted: readonly { readonly job: Job; readonly schedule: Schedule }[],
    parts: FiringRecords,
  ): Promise<Map<string, Plan>> {
    await this.assertPlanner(parts);
    const written = new Map((await parts.schedules.all()).map((row) => [row.job, row]));
    const deferred = this.#hasResumed ? undefined : await parts.deferredFirings.take();
    const plans = new Map<string, Plan>();
    const put: ScheduleRow[] = [];
    const forget = new Set(written.keys());
    for (const { job, schedule } of wanted) {
      const row = written.get(job.name);
      forget.delete(job.name);
      // The firings of a job whose schedule is unchanged may be in progress, so its plan isn't read from the store.
      if (this.#planned.unedited(job.name, schedule) !== undefined) continue;
      const plan = resumePlan(schedule, planOf(row, deferred?.get(job.name)), this.#given.clock.now());
      plans.set(job.name, plan);
      if (plan.nextAt === null) forget.add(job.name);
      else if (row?.schedule !== plan.schedule || row.next_at !== plan.nextAt)
        put.push({ job: job.name, schedule: plan.schedule, next_at: plan.nextAt });
    }
    await parts.schedules.change({ put, forget: [...forget] });
    return plans;
  }

  /** Yields all firings and retries that may come due, except firings that wait for another firing of the same job. */
  *#dueAt(): Generator<Due> {
    yield* this.#planned.due();
    for (const due of this.attempts.due(this.#given.clock.now())) yield { ...due, isAttempt: true };
  }

  /** Must be called when the clock was set. Replans firings and retries that are now too far in the future. */
  #replan(): void {
    const moves = this.#planned.replan();
    this.attempts.clockSet(this.#given.clock.now());
    if (moves.length > 0) void this.#writeMoves(moves).catch(this.#given.failed);
  }

  /**
   * Stores the moved firings for other processes. If a firing is in progress, it stores its job's next firing itself.
   */
  async #writeMoves(moves: readonly Move[]): Promise<void> {
    await this.transaction(({ schedules }) => schedules.move(moves));
  }

  /** A process that was suspended may learn only now that another process plans. It must not change the plan. */
  async assertPlanner({ leases }: Pick<FiringRecords, 'leases'>): Promise<void> {
    const { lease } = this.#given;
    if (lease !== undefined) await leases.assertHeld(lease);
  }

  /** Runs `work` in a transaction if this process still plans. Otherwise, throws `LEASE_LOST`. */
  async transaction(work: (parts: Repositories) => Promise<void>): Promise<void> {
    await this.#given.store.transaction(async (parts) => {
      await this.assertPlanner(parts);
      await work(parts);
    });
  }

  #fire(due: DueFirings | undefined): void {
    if (due === undefined) return;
    this.#cameDue.push(due);
    this.#wake?.();
  }

  /** Accepts a retry. The schedule's plan stays unchanged. */
  #takeAttempt(name: string): DueFirings | undefined {
    const job = this.#planned.find(name)?.job;
    const attempt = this.attempts.take(name)?.row;
    if (job === undefined || attempt === undefined) return undefined;
    const { fired_at: at, logical_at } = attempt;
    return { job, firing: { job, at, attempt, isCatchUp: false, logicalAt: logical_at ?? undefined } };
  }

  #take(name: string, nextAt: number): DueFirings | undefined {
    const planned = this.#planned.find(name);
    if (planned === undefined) return undefined;
    const { job, schedule, behindSince } = planned;
    const now = this.#given.clock.now();
    const decision = decideMisfire(schedule, { nextAt, now, behindSince });
    const { fire: at, skipped, hasBacklog, isCatchUp } = decision;
    planned.plan = { ...planned.plan, nextAt: decision.nextAt };
    planned.behindSince = hasBacklog ? (behindSince ?? now) : undefined;
    if (at === undefined) return { job, skipped };
    const open = this.#open.add(name, at);
    if (hasBacklog) planned.waitsFor = at;
    const logicalAt = schedule.misfire?.policy === 'run_all' ? nominalOf(schedule, at) : undefined;
    return { job, skipped, firing: { job, at, open, logicalAt, isCatchUp } };
  }

  /**
   * Records when a job fires next: the first due firing that is still open, so that a crash doesn't lose that firing,
   * or else the planned firing. Records nothing for a job that is no longer planned.
   *
   * @param settled a firing that begins or is skipped
   */
  async settle(name: string, parts: FiringRecords, settled?: Firing): Promise<void> {
    const planned = this.#planned.find(name);
    if (planned === undefined) return;
    await this.assertPlanner(parts);
    const { plan } = planned;
    if (settled?.open !== undefined) this.#open.delete(name, settled.open);
    const next = Math.min(this.#open.first(name), plan.nextAt ?? Number.POSITIVE_INFINITY);
    await write(parts, name, { ...plan, nextAt: Number.isFinite(next) ? next : null });
  }

  /**
   * Records that a firing, and the firings it replaced, now have a run. Call this in the transaction that begins the
   * run or its next attempt, so that a crash neither loses the firing nor makes it fire twice.
   */
  async begin(firing: Firing, parts: FiringRecords): Promise<void> {
    const { job, attempt, isRepeated } = firing;
    if (attempt !== undefined) return this.assertPlanner(parts);
    if (isRepeated === true) await this.assertPlanner(parts);
    else await this.settle(job.name, parts, firing);
    if (this.#deferred.has(job.name)) await parts.deferredFirings.drop(rowOf(firing));
  }

  /**
   * Records that a firing is waiting, or that its run was given up. If the firing's run hasn't begun by the next start,
   * the firing fires then.
   */
  async defer(firing: Firing, { deferredFirings }: FiringRecords): Promise<void> {
    this.#deferred.add(firing.job.name);
    await deferredFirings.add(rowOf(firing));
  }

  /** Like {@link defer}, but for a run that another process may have handled meanwhile, so only under the lease. */
  async deferEnded(firing: Firing): Promise<void> {
    await this.transaction((parts) => this.defer(firing, parts));
  }
}

function rowOf({ job, at, logicalAt }: Firing): DeferredFiringRow {
  return { job: job.name, at, logical_at: logicalAt ?? null };
}

/** `deferred` is the earliest firing that was waiting when the last process ended. */
function planOf(row: ScheduleRow | undefined, deferred = Number.POSITIVE_INFINITY): Plan | undefined {
  return row && { schedule: row.schedule, nextAt: Math.min(row.next_at, deferred) };
}

async function write({ schedules }: FiringRecords, job: string, { schedule, nextAt }: Plan): Promise<void> {
  if (nextAt === null) return schedules.forget(job);
  await schedules.set({ job, schedule, next_at: nextAt });
}
