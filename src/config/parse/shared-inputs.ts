import type { Problem } from '../../lib/problem.ts';
import type { ReadInput } from '../../sdk/connector.ts';
import type { OptionSet } from '../../sdk/option.ts';
import type { Extract, Job } from '../config.ts';
import { below, type Document } from '../text/document.ts';
import { Faults } from '../text/faults.ts';
import type { LoadResult } from './context.ts';

type Reader = Job & { readonly extract: Extract };

/**
 * A job that moves or deletes what it has read doesn't wait for other jobs that need the same data, so it's rejected,
 * even if it's disabled, because `sluice sync` runs it by name. Other disabled jobs don't count. `folder` is the
 * config's folder.
 */
export function refuseSharedInputs(
  jobs: ReadonlyMap<string, LoadResult<Job>>,
  document: Document,
  folder: string,
): Map<string, Problem[]> {
  const refused = new Map<string, Problem[]>();
  const readers = [...jobs.values()].flatMap(({ value }) => (value?.extract === undefined ? [] : [value as Reader]));
  for (const job of readers) {
    const { connector } = job.extract.source;
    const option = connector.actsAfterDeliveryBy?.(job.extract.query);
    if (option === undefined) continue;
    const other = readers.find((one) => one !== job && one.enabled && mayShare(job, one, folder));
    if (other !== undefined) refused.set(job.name, [sharedProblem(job, { other, option, document })]);
  }
  return refused;
}

function mayShare(job: Reader, other: Reader, folder: string): boolean {
  const { connector } = job.extract.source;
  if (other.extract.source.connector.id !== connector.id) return false;
  const [one, two] = [job, other].map(({ extract }) => inputOf(extract, folder));
  return connector.mayShareInput?.(one!, two!) === true;
}

const inputOf = ({ source, query }: Extract, folder: string): ReadInput<OptionSet, OptionSet> => ({
  source: source.options,
  query,
  folder,
});

interface SharedOptions {
  readonly other: Job;
  readonly option: string;
  readonly document: Document;
}

function sharedProblem(job: Job, { other, option, document }: SharedOptions): Problem {
  const faults = new Faults(document, { job: job.name });
  faults.add({
    code: 'CONFIG_INPUT_SHARED',
    message: `"${option}" doesn't wait for the "${other.name}" job (line ${other.line}), which may read the same files`,
    path: `${below('/jobs', job.name)}/query`,
    next: `remove "${option}", or give the jobs paths that can't match the same files, such as a-*.csv and b-*.csv`,
  });
  return faults.problems[0]!;
}
