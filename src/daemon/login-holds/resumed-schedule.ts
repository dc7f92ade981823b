import { runsDue } from '../../schedule/misfire.ts';
import { nextFiring, type Schedule } from '../../schedule/schedule.ts';
import type { LoginHoldRow } from '../../state/tables.ts';

/** A job's schedule while its source's login is on hold. */
export interface ResumedSchedule {
  /** The time of the next login attempt. No run starts before then. */
  readonly at: number;
  /** Number of runs that will be due at that time. */
  readonly runs: number;
}

/**
 * Determines what happens to a job's firings while its source's login is on hold. Firings that come due before the next
 * login attempt are caught up at that time, like missed firings. With `misfire: skip`, they're skipped.
 *
 * @param nextAt the firing that already waits, or the next one; null if there is none
 * @returns undefined if the login isn't tried again automatically
 */
export function resumedSchedule(
  schedule: Schedule,
  { retry_at }: Pick<LoginHoldRow, 'retry_at'>,
  { nextAt, now }: { readonly nextAt: number | null; readonly now: number },
): ResumedSchedule | undefined {
  if (retry_at === null) return undefined;
  const at = Math.max(retry_at, now);
  if (schedule.misfire?.policy === 'skip') return { at, runs: nextFiring(schedule, at - 1) === at ? 1 : 0 };
  return { at, runs: runsDue(schedule, { nextAt, now: at }) };
}

/**
 * Returns the next run of a job whose source's login is on hold. Undefined if the job doesn't run until a user acts.
 */
export function nextResumedRun(...given: Parameters<typeof resumedSchedule>): number | undefined {
  const resumed = resumedSchedule(...given);
  if (resumed === undefined) return undefined;
  const [schedule] = given;
  return resumed.runs > 0 ? resumed.at : (nextFiring(schedule, resumed.at) ?? undefined);
}
