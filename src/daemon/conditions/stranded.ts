import { countOf } from '../../lib/count-text.ts';
import { reloadStep } from './after-edit.ts';
import type { Condition, Snapshot } from './condition.ts';

/** Finds owed payloads whose job or destination is no longer in the config. */
export function findStranded({ overview, config }: Pick<Snapshot, 'overview' | 'config'>): Condition[] {
  const { jobs, destinations, leftOut } = config;
  const orphans = overview.waiting.filter(
    ({ state, job, destination }) =>
      state === 'owed' && !leftOut?.has(job) && (!jobs.has(job) || !destinations.has(destination)),
  );
  const groups = Map.groupBy(orphans, ({ job, destination }) => JSON.stringify([job, destination]));
  return [...groups.values()].map((rows): Condition => {
    const { job, destination } = rows[0]!;
    const owed = `job ${job} has ${countOf(rows.length, 'unsent payload')} for destination ${destination}`;
    const isDeliverable = destinations.has(destination);
    return {
      subject: `stranded:${job} ${destination}`,
      kind: 'stranded',
      level: isDeliverable ? 'warning' : 'error',
      since: Math.min(...rows.map(({ owed_at }) => owed_at)),
      what: isDeliverable ? `${owed}, but the job is no longer in the config` : `${owed}, which is not in the config`,
      jobs: jobs.has(job) ? [job] : [],
      fix: isDeliverable
        ? 'no action needed: the daemon or "sluice sync" will deliver the payloads'
        : `add destination ${destination} to the config again${reloadStep(overview)}`,
    };
  });
}
