import { affectedJobs } from '../daemon/conditions/headline.ts';
import type { JobStatus, Status } from '../daemon/report/report-status.ts';

/** How urgent a job is. `bad`: needs attention. `wait`: resolves itself or is intended. `idle`: nothing is due. */
export type Standing = 'bad' | 'wait' | 'good' | 'idle';

/** A symbol for each level, because color must not be the only cue. */
export const signs: Readonly<Record<Standing, string>> = { bad: '✖', wait: '◔', good: '✔', idle: '○' };

/** Each job's level, derived from the conditions, never from the wording of the job's state. */
export function standingsOf({ conditions }: Pick<Status, 'conditions'>): (job: JobStatus) => Standing {
  const bad = affectedJobs(conditions, 'error');
  const slow = affectedJobs(conditions, 'warning');
  return ({ job, enabled, on_hold, last_run, owed }) => {
    if (bad.has(job)) return 'bad';
    if (slow.has(job) || on_hold === true || owed.length > 0) return 'wait';
    return enabled && last_run !== undefined ? 'good' : 'idle';
  };
}
