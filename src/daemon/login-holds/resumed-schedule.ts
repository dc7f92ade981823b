import { runsDue } from '../../schedule/misfire.ts';
import { nextFiring, type Schedule } from '../../schedule/schedule.ts';
import type { LoginHoldRow } from '../../state/tables.ts';

/** A schedule while its source's login is on hold. */
export interface ResumedSchedule {
  /** When the login is tried again; nothing runs before then. */
  readonly at: number;
  /** Number of runs that will be due then. */
  readonly runs: number;
}

/**
 * What happens to a job's firings during a hold. Firings that come due before the next login attempt are caught up at
 * that time, like missed ones; with `misfire: skip`, they're skipped.
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

/** The next run of a job whose login is on hold; undefined if the job doesn't run until a person acts. */
export function nextResumedRun(...given: Parameters<typeof resumedSchedule>): number | undefined {
  const resumed = resumedSchedule(...given);
  if (resumed === undefined) return undefined;
  const [schedule] = given;
  return resumed.runs > 0 ? resumed.at : (nextFiring(schedule, resumed.at) ?? undefined);
}
