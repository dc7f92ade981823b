import { affectedJobs } from '../daemon/conditions/headline.ts';
import type { JobStatus, Status } from '../daemon/report-status.ts';

/** How much a job wants of whoever looks: `bad` a person has to act, `wait` it will end by itself or was meant, `idle` nothing is due. */
export type Standing = 'bad' | 'wait' | 'good' | 'idle';

/** The sign before the words, for who cannot tell the colours apart. */
export const signs: Readonly<Record<Standing, string>> = { bad: '✖', wait: '◔', good: '✔', idle: '○' };

/** Each job's standing: what is wrong is read from the conditions, never from the words of its state. */
export function standingsOf({ conditions }: Pick<Status, 'conditions'>): (job: JobStatus) => Standing {
  const bad = affectedJobs(conditions, 'error');
  const slow = affectedJobs(conditions, 'warning');
  return ({ job, enabled, held, last_run, owed }) => {
    if (bad.has(job)) return 'bad';
    if (slow.has(job) || held === true || owed.length > 0) return 'wait';
    return enabled && last_run !== undefined ? 'good' : 'idle';
  };
}
