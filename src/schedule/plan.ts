import { nextFiring, type Schedule, scheduleKey } from './schedule.ts';

/** A schedule's stored plan, which a restart continues. */
export interface Plan {
  /** The planned schedule's {@link scheduleKey}; a schedule that was edited is planned again. */
  readonly schedule: string;
  /** The next firing in epoch milliseconds; null if there is none. */
  readonly nextAt: number | null;
}

/** If the clock is set back by less than this, no firing is repeated. */
const toleratedBackMs = 60_000;

/**
 * The plan to continue with after a start, a reload or a clock change. A stored plan for the same schedule is kept,
 * even if its firing is in the past: that firing was missed and is due now. Otherwise, planning starts from `now`, so
 * that an edit doesn't cause late firings, and no job waits until a clock that was set back has caught up.
 */
export function resumePlan(schedule: Schedule, written: Plan | undefined, now: number): Plan {
  const fresh: Plan = { schedule: scheduleKey(schedule), nextAt: nextFiring(schedule, now) };
  if (written?.schedule !== fresh.schedule || written.nextAt === null) return fresh;
  const latest = nextFiring(schedule, now + toleratedBackMs);
  return latest !== null && written.nextAt > latest ? fresh : { ...written };
}
