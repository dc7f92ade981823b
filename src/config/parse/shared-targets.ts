import type { Problem } from '../../lib/problem.ts';
import { clientOf, type Job } from '../config.ts';
import { below, type Document } from '../text/document.ts';
import { Faults } from '../text/faults.ts';
import type { LoadResult } from './context.ts';

/**
 * Two jobs that write to the same instance would keep overwriting each other's data, so the later job is rejected.
 * Disabled jobs don't count, because users keep variants of a job as disabled jobs.
 */
export function refuseSharedTargets(
  jobs: ReadonlyMap<string, LoadResult<Job>>,
  document: Document,
): Map<string, Problem[]> {
  const writers = new Map<string, Job>();
  const refused = new Map<string, Problem[]>();
  for (const { value: job } of jobs.values()) {
    const key = job?.enabled ? targetKey(job) : undefined;
    if (job === undefined || key === undefined) continue;
    const first = writers.get(key);
    if (first === undefined) writers.set(key, job);
    else refused.set(job.name, [sharedProblem(job, first, document)]);
  }
  return refused;
}

function targetKey(job: Job): string | undefined {
  const { target, destination } = job;
  if (target.kind === 'refresh') return undefined;
  if (target.kind === 'instance') return JSON.stringify([destination.url, target.instance]);
  return JSON.stringify([
    destination.url,
    destination.account,
    clientOf(job).clientId ?? '',
    'name',
    target.declaration.name,
  ]);
}

function sharedProblem(job: Job, first: Job, document: Document): Problem {
  const faults = new Faults(document, { job: job.name });
  faults.add({
    code: 'CONFIG_TARGET_TAKEN',
    message: `The "${first.name}" job (line ${first.line}) writes to the same target, so each job would overwrite the other's data`,
    path: `${below('/jobs', job.name)}/target`,
    next: 'give one of the jobs another target, or disable one with "enabled: false"',
  });
  return faults.problems[0]!;
}
