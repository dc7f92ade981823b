import type { Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Plan, resumePlan } from '../../schedule/plan.ts';
import { type Schedule, scheduleKey } from '../../schedule/schedule.ts';
import type { Due } from '../../schedule/timer.ts';
import type { Move } from '../../state/runs/schedules.ts';

/** A job with a schedule, and when it fires next. */
export interface ScheduledJob {
  readonly job: Job;
  readonly schedule: Schedule;
  plan: Plan;
  /** The time when the job began to catch up on missed firings, one run at a time. */
  behindSince?: number | undefined;
  /** The firing that must finish before the job's next firing can start. */
  waitsFor?: number | undefined;
}

/** The jobs that have a schedule, by name, and when each of them fires next. */
export class ScheduledJobs {
  readonly #clock: Clock;
  #byName = new Map<string, ScheduledJob>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(name: string): ScheduledJob | undefined {
    return this.#byName.get(name);
  }

  replace(jobs: readonly ScheduledJob[]): void {
    this.#byName = new Map(jobs.map((one) => [one.job.name, one]));
  }

  /** Returns a job only if its schedule is unchanged. */
  unedited(name: string, schedule: Schedule): ScheduledJob | undefined {
    const known = this.#byName.get(name);
    return known?.plan.schedule === scheduleKey(schedule) ? known : undefined;
  }

  /** Whether the job has missed firings that are waiting for their turn. */
  hasBacklog(name: string): boolean {
    const plan = this.#byName.get(name)?.plan;
    return plan !== undefined && this.isDue(plan);
  }

  isDue({ nextAt }: Plan): boolean {
    return nextAt !== null && nextAt <= this.#clock.now();
  }

  /** Yields all firings that may come due, except those that wait for another firing of the same job. */
  *due(): Generator<Due> {
    for (const [job, { plan, waitsFor }] of this.#byName) {
      if (plan.nextAt !== null && waitsFor === undefined) yield { job, at: plan.nextAt };
    }
  }

  /** Returns the next firing of each job, earliest first. */
  next(): { job: string; at: number }[] {
    const all = [...this.#byName].map(([job, { plan }]) => ({ job, at: plan.nextAt }));
    return all.filter((one): one is { job: string; at: number } => one.at !== null).sort((a, b) => a.at - b.at);
  }

  /** How overdue the first firing is, in milliseconds, and the number of jobs that will fire. */
  counts(): { readonly overdue: number; readonly scheduled: number } {
    let [first, scheduled] = [Number.POSITIVE_INFINITY, 0];
    for (const { plan, waitsFor } of this.#byName.values()) {
      if (plan.nextAt === null) continue;
      scheduled++;
      if (waitsFor === undefined) first = Math.min(first, plan.nextAt);
    }
    return { overdue: Math.max(0, this.#clock.now() - first), scheduled };
  }

  /** Must be called when the clock was set. Replans firings that are now too far in the future, and returns them. */
  replan(): Move[] {
    const now = this.#clock.now();
    const moves: Move[] = [];
    for (const [job, planned] of this.#byName) {
      const { nextAt: from } = planned.plan;
      planned.plan = resumePlan(planned.schedule, planned.plan, now);
      const to = planned.plan.nextAt;
      if (from !== null && to !== null && from !== to) moves.push({ job, from, to });
    }
    return moves;
  }
}
