import { affectedJobs } from '../daemon/conditions/headline.ts';
import type { JobStatus } from '../daemon/report/job-status.ts';
import type { Status } from '../daemon/report/report-status.ts';

/**
 * How urgent a job is. `bad`: the job needs attention. `wait`: the state is intended or resolves by itself. `idle`:
 * nothing is due.
 */
export type Standing = 'bad' | 'wait' | 'good' | 'idle';

/** A symbol for each urgency level, because color must not be the only cue. */
export const signs: Readonly<Record<Standing, string>> = { bad: '✖', wait: '◔', good: '✔', idle: '○' };

/**
 * Returns each job's urgency level. The level depends only on the conditions, never on the wording of the job's state.
 */
export function standingsOf({ conditions }: Pick<Status, 'conditions'>): (job: JobStatus) => Standing {
  const bad = affectedJobs(conditions, 'error');
  const slow = affectedJobs(conditions, 'warning');
  return ({ job, enabled, on_hold, last_run, owed }) => {
    if (bad.has(job)) return 'bad';
    if (slow.has(job) || on_hold === true || owed.length > 0) return 'wait';
    return enabled && last_run !== undefined ? 'good' : 'idle';
  };
}
