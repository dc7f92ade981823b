import type { Job } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { type Plan, planAfter, resumePlan } from '../schedule/plan.ts';
import type { Schedule } from '../schedule/schedule.ts';
import { createTimer, type Timer } from '../schedule/timer.ts';
import type { Parts, Store } from '../state/store.ts';
import type { ScheduleRow } from '../state/tables.ts';

/** A firing that is to be acted on. */
export interface Firing {
  readonly job: Job;
  /** The instant it was planned for, epoch milliseconds. */
  readonly at: number;
  /**
   * Writes down when the job fires next, as it is planned now. Called inside the transaction that begins the run, so that
   * a crash neither loses this firing nor lets it fire twice.
   */
  settle(parts: Pick<Parts, 'schedules'>): Promise<void>;
  /** Writes this firing down again, where the run that it began was given up: the next start fires it. */
  giveBack(parts: Pick<Parts, 'schedules'>): Promise<void>;
}

interface Planned {
  readonly job: Job;
  readonly schedule: Schedule;
  plan: Plan;
}

export interface SchedulerGiven {
  readonly store: Store;
  readonly clock: Clock;
  /** Acts on a firing; must not throw. */
  readonly fire: (firing: Firing) => void;
  readonly failed: (error: unknown) => void;
  readonly timer?: Timer;
}

/** What can be seen of the ticking from outside. Milliseconds. */
export interface Ticking {
  /** Since the plan was last looked at; undefined while it is not to be looked at at all. */
  readonly silence: number | undefined;
  /** How far the firing that should have been first is behind its instant; 0 when none is. */
  readonly overdue: number;
  readonly scheduled: number;
}

/** Knows when each job is due next, in memory for the ticking and in the store for the next start. */
export class Scheduler {
  readonly #given: SchedulerGiven;
  readonly #timer: Timer;
  #planned = new Map<string, Planned>();

  constructor(given: SchedulerGiven) {
    this.#given = given;
    this.#timer = given.timer ?? createTimer(given.clock);
  }

  /**
   * Takes over a config's jobs, all of them or none: unedited schedules go on where they were, also when their instant
   * has passed. What is due fires at the next look.
   */
  async adopt(jobs: Iterable<Job>): Promise<void> {
    const { store, clock } = this.#given;
    this.#planned = await store.transaction(async ({ schedules }) => {
      const planned = new Map<string, Planned>();
      for (const job of jobs) {
        const { schedule } = job;
        if (schedule === undefined || !job.enabled) continue;
        const written = planOf(await schedules.find(job.name));
        const plan = resumePlan(schedule, written, clock.now());
        planned.set(job.name, { job, schedule, plan });
        await write({ schedules }, job.name, plan);
      }
      for (const { job } of await schedules.all()) if (!planned.has(job)) await schedules.forget(job);
      return planned;
    });
  }

  /** Fires what is due now, once started. */
  look(): void {
    this.#timer.look();
  }

  start(): void {
    this.#timer.start({
      dueAt: () => this.#due(),
      fire: (job, at) => this.#fire(job, at),
      failed: this.#given.failed,
    });
  }

  stop(): void {
    this.#timer.stop();
  }

  /** The next firing of each job, soonest first. */
  next(): { job: string; at: number }[] {
    return [...this.#due()].sort((a, b) => a.at - b.at);
  }

  ticking(): Ticking {
    const due = [...this.#due()].map(({ at }) => at);
    const first = due.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    const overdue = Math.max(0, this.#given.clock.now() - first);
    return { silence: this.#timer.silence(), overdue, scheduled: due.length };
  }

  *#due(): Generator<{ job: string; at: number }> {
    for (const [job, { plan }] of this.#planned) if (plan.nextAt !== null) yield { job, at: plan.nextAt };
  }

  #fire(name: string, at: number): void {
    const planned = this.#planned.get(name);
    if (planned === undefined) return;
    const { job, schedule } = planned;
    planned.plan = planAfter(schedule, this.#given.clock.now());
    this.#given.fire({
      job,
      at,
      settle: (parts) => this.#settle(name, parts),
      giveBack: (parts) => this.#settle(name, parts, at),
    });
  }

  /** A job that is not planned any more, or whose schedule was edited meanwhile, is not written down by an older firing. */
  async #settle(name: string, parts: Pick<Parts, 'schedules'>, nextAt?: number): Promise<void> {
    const planned = this.#planned.get(name);
    if (planned === undefined) return;
    const { plan } = planned;
    await write(parts, name, nextAt === undefined ? plan : { ...plan, nextAt });
  }
}

function planOf(row: ScheduleRow | undefined): Plan | undefined {
  return row && { schedule: row.schedule, nextAt: row.next_at };
}

async function write({ schedules }: Pick<Parts, 'schedules'>, job: string, { schedule, nextAt }: Plan): Promise<void> {
  if (nextAt === null) return schedules.forget(job);
  await schedules.set({ job, schedule, next_at: nextAt });
}
