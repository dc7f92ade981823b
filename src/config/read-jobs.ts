import type { JobReference } from '../sdk/job-rows.ts';
import type { Config, Job } from './config.ts';

/** The jobs whose rows a job reads. */
export function jobsReadBy({ extract }: Pick<Job, 'extract'>): readonly JobReference[] {
  return extract?.source.connector.readsJobs?.(extract.query) ?? [];
}

/** The names of all jobs whose rows other jobs read, also those that are left out until their errors are fixed. */
export function readJobsOf({ jobs, readByLeftOut }: Pick<Config, 'jobs' | 'readByLeftOut'>): ReadonlySet<string> {
  const read = [...jobs.values()].flatMap(jobsReadBy).map(({ job }) => job);
  return new Set([...read, ...(readByLeftOut ?? [])]);
}
