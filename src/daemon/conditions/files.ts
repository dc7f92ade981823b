import { readActionFailures } from '../run/action-failures.ts';
import { mayAct } from '../run/after-delivery.ts';
import type { Condition, Snapshot } from './condition.ts';

/** How long a source may be unavailable, in milliseconds. */
const patienceMs = 3_600_000;

/** Finds jobs whose files couldn't be moved or deleted after they were delivered. */
export async function findUnfinishedFiles({
  jobs,
  store,
  overview: { now },
}: Pick<Snapshot, 'jobs' | 'store' | 'overview'>): Promise<Condition[]> {
  const acting = new Set(jobs.filter(mayAct).map(({ name }) => name));
  if (acting.size === 0) return [];
  const failures = (await readActionFailures(store)).filter(({ job }) => acting.has(job));
  return failures.map(({ job, since, code, message, next, isTransient = false }): Condition => {
    const level = isTransient && now - since < patienceMs ? 'warning' : 'error';
    const what = `${message}; the rows have been delivered and are not read again`;
    return {
      ...{ subject: `job:${job}`, kind: 'files', level, since, what, jobs: [job], code },
      fix: next ?? `fix the cause; then sluice sync ${job}`,
    };
  });
}
