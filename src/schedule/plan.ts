import { nextFiring, type Schedule, scheduleKey } from './schedule.ts';

/** What is written down of a job's schedule, so that a restart goes on where the daemon stopped. */
export interface Plan {
  /** {@link scheduleKey} of the schedule that this was made for: an edited schedule is planned afresh. */
  readonly schedule: string;
  /** Epoch milliseconds of the firing that is due next; null when there is none. */
  readonly nextAt: number | null;
}

/** A clock that was set back across a firing by less than this does not fire it a second time. */
const toleratedBackMs = 60_000;

/**
 * The plan to go on with at start-up, after a reload, or when somebody has set the clock. What was written for this very
 * schedule is kept, even when its instant has passed: that firing was missed and is due now. Anything else starts from
 * `now`, so an edit fires nothing late, and a clock that was set back keeps no job waiting until it has caught up.
 */
export function resumePlan(schedule: Schedule, written: Plan | undefined, now: number): Plan {
  const fresh: Plan = { schedule: scheduleKey(schedule), nextAt: nextFiring(schedule, now) };
  if (written?.schedule !== fresh.schedule || written.nextAt === null) return fresh;
  const latest = nextFiring(schedule, now + toleratedBackMs);
  return latest !== null && written.nextAt > latest ? fresh : { ...written };
}
