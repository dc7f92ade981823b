import { elementName } from '../../formats/xml-names.ts';
import { didYouMean } from '../../lib/nearest.ts';
import type { Problem } from '../../lib/problem.ts';
import type { Column } from '../../sdk/column.ts';
import type { JobReference } from '../../sdk/job-rows.ts';
import type { Extract, Job } from '../config.ts';
import { jobsReadBy } from '../read-jobs.ts';
import { below, type Document } from '../text/document.ts';
import { type Fault, Faults } from '../text/faults.ts';
import type { LoadResult } from './context.ts';

type Jobs = ReadonlyMap<string, LoadResult<Job>>;

/** The errors of jobs that read rows of other jobs: a job that doesn't exist or has no such rows, or a cycle. */
export function refuseJobReferences(jobs: Jobs, document: Document): Map<string, Problem[]> {
  const refused = new Map<string, Problem[]>();
  for (const { value: job } of jobs.values()) {
    if (job === undefined) continue;
    const faults = new Faults(document, { job: job.name });
    for (const reference of jobsReadBy(job)) {
      const fault = faultOf(job, reference, jobs);
      const path = ['query', ...reference.option].reduce(below, below('/jobs', job.name));
      if (fault !== undefined) faults.add({ ...fault, path });
    }
    if (faults.problems.length > 0) refused.set(job.name, [...faults.problems]);
  }
  return refused;
}

/**
 * Warns about jobs that read the rows of a job with errors. They can be run, but the other job can't, so its rows don't
 * change.
 */
export function warnOfLeftOut(jobs: Jobs, refused: ReadonlyMap<string, unknown>, document: Document): Problem[] {
  return [...jobs.values()].flatMap(({ value: job }) => {
    if (job === undefined || refused.has(job.name)) return [];
    const faults = new Faults(document, { job: job.name });
    for (const { job: read, option } of jobsReadBy(job)) {
      if (!refused.has(read)) continue;
      faults.warn({
        code: 'CONFIG_JOB_NOT_RUN',
        message: `The "${read}" job has errors and isn't run, so this job reads the rows that it last delivered`,
        path: ['query', ...option].reduce(below, below('/jobs', job.name)),
        next: `fix the errors of the "${read}" job`,
      });
    }
    return faults.warnings;
  });
}

function faultOf({ name }: Job, { job, columns }: JobReference, jobs: Jobs): Omit<Fault, 'path'> | undefined {
  const result = jobs.get(job);
  if (result === undefined) {
    const known = [...jobs.keys()].filter((other) => other !== name);
    const next = didYouMean(job, known) ?? 'use the name of another job of this config';
    return { code: 'CONFIG_UNKNOWN_JOB', message: `Unknown job "${job}"`, allowed: known.join(', '), next };
  }
  const cycle = pathTo(name, { from: job, jobs });
  if (cycle !== undefined) {
    return {
      code: 'CONFIG_JOB_CYCLE',
      message: 'The job would read its own rows',
      seen: [name, ...cycle].join(' → '),
      next: 'read the rows of a job that does not depend on this one',
    };
  }
  // If the other job has errors, it isn't run, but its last rows can be read.
  if (result.value === undefined) return undefined;
  const { extract } = result.value;
  if (extract === undefined) {
    return {
      code: 'CONFIG_JOB_ROWS',
      message: `The "${job}" job is a bulk refresh and has no rows`,
      next: 'name a job that has a source',
    };
  }
  const known = knownColumns(extract);
  const missing = columns.find((column) => known?.includes(column) === false);
  if (known === undefined || missing === undefined) return undefined;
  return {
    code: 'CONFIG_JOB_COLUMN',
    message: `The rows of the "${job}" job have no column "${missing}"`,
    allowed: known.join(', '),
    next: didYouMean(missing, known) ?? `add the column to the transforms of the "${job}" job, or use one of these`,
  };
}

/** The names of the jobs from one job to another along their references, both included; undefined if there's no path. */
function pathTo(wanted: string, { from, jobs }: { from: string; jobs: Jobs }): readonly string[] | undefined {
  const seen = new Set<string>();
  const look = (name: string): readonly string[] | undefined => {
    if (name === wanted) return [name];
    const job = seen.has(name) ? undefined : jobs.get(name)?.value;
    seen.add(name);
    for (const { job: next } of job === undefined ? [] : jobsReadBy(job)) {
      const rest = look(next);
      if (rest !== undefined) return [name, ...rest];
    }
    return undefined;
  };
  return look(from);
}

/** The payload's columns, if the transforms determine them whatever the source returns. */
function knownColumns({ transforms, format, formatOptions }: Extract): readonly string[] | undefined {
  const at = transforms.findLastIndex(({ transform }) => transform.id === 'select');
  if (at < 0) return undefined;
  let columns: readonly Column[] = (transforms[at]!.given as readonly string[]).map((name) => ({ name, type: 'text' }));
  try {
    for (const { transform, given } of transforms.slice(at + 1)) columns = transform.prepare(given, columns).columns;
  } catch {
    // A later transform needs the actual types.
    return undefined;
  }
  if (format.id === 'csv' && formatOptions.header === false) return columns.map((_, c) => `column${c + 1}`);
  return columns.map(({ name }) => (format.id === 'xml' ? elementName(name) : name));
}
