import type { JobReference } from '../sdk/job-rows.ts';
import type { Config, Job } from './config.ts';

/** The jobs whose rows a job reads. */
export function jobsReadBy({ extract }: Pick<Job, 'extract'>): readonly JobReference[] {
  return extract?.source.connector.readsJobs?.(extract.query) ?? [];
}

/** The names of all jobs whose rows other jobs read. */
export function readJobsOf({ jobs }: Pick<Config, 'jobs'>): ReadonlySet<string> {
  return new Set([...jobs.values()].flatMap(jobsReadBy).map(({ job }) => job));
}
