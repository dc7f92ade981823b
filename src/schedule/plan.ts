import { firingsBetween, nextFiring, type Schedule, scheduleKey } from './schedule.ts';

/** What is written down of a job's schedule, so that a restart goes on where the daemon stopped. */
export interface Plan {
  /** {@link scheduleKey} of the schedule that this was made for: an edited schedule is planned afresh. */
  readonly schedule: string;
  /** Epoch milliseconds of the firing that is due next; null when there is none. */
  readonly nextAt: number | null;
}

/** A clock that was set back by less than this is left to catch up; by more, the plan is made anew. */
const clockSetBack = 60 * 60 * 1000;
/** Counting what was missed stops here: a minute schedule that slept for a year needs no exact figure. */
const mostCounted = 1000;

/**
 * The plan to go on with at start-up or after a reload. What was written for this very schedule is kept, even when its
 * instant has passed: that firing was missed and is due now. Anything else starts from `now`, so an edit fires nothing late.
 */
export function resumePlan(schedule: Schedule, written: Plan | undefined, now: number): Plan {
  const fresh = planAfter(schedule, now);
  if (written?.schedule !== fresh.schedule || written.nextAt === null) return fresh;
  const isBeyond = fresh.nextAt !== null && written.nextAt > fresh.nextAt + clockSetBack;
  return isBeyond ? fresh : { ...written };
}

/** The plan once a firing was acted on at `now`: the first instant still to come, so all that were missed run once. */
export function planAfter(schedule: Schedule, now: number): Plan {
  return { schedule: scheduleKey(schedule), nextAt: nextFiring(schedule, now) };
}

/** Whether a firing is due. */
export function isDue(plan: Plan, now: number): boolean {
  return plan.nextAt !== null && plan.nextAt <= now;
}

/** How many firings after the one that was due have passed as well: one run stands for them all. At most 1000. */
export function missedFirings(schedule: Schedule, plan: Plan, now: number): number {
  if (plan.nextAt === null) return 0;
  let missed = 0;
  for (const _ of firingsBetween(schedule, plan.nextAt, now)) if (++missed === mostCounted) break;
  return missed;
}
