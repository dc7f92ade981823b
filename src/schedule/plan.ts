import { nextFiring, type Schedule, scheduleKey } from './schedule.ts';

/** The stored plan of a job's schedule: a restart continues from it. */
export interface Plan {
  /** {@link scheduleKey} of the schedule that was planned: an edited schedule is planned again. */
  readonly schedule: string;
  /** Epoch milliseconds of the next firing; null if there is none. */
  readonly nextAt: number | null;
}

/** A clock set back by less than this does not repeat a firing. */
const toleratedBackMs = 60_000;

/**
 * The plan to continue with after a start, a reload or a change of the clock. A stored plan of the same schedule is
 * kept, even if its firing is in the past: that firing was missed and is due now. Otherwise planning starts from `now`,
 * so that an edit fires nothing late, and no job waits until a clock that was set back has caught up.
 */
export function resumePlan(schedule: Schedule, written: Plan | undefined, now: number): Plan {
  const fresh: Plan = { schedule: scheduleKey(schedule), nextAt: nextFiring(schedule, now) };
  if (written?.schedule !== fresh.schedule || written.nextAt === null) return fresh;
  const latest = nextFiring(schedule, now + toleratedBackMs);
  return latest !== null && written.nextAt > latest ? fresh : { ...written };
}
