import type { StoreContext } from '../engine/context.ts';
import type { OutboxRow, OutboxState } from '../tables.ts';

/** Returns the newest payload in one of these states of each of these jobs at each of the job's instances. */
export async function newestOfJobs(
  { db }: Pick<StoreContext, 'db'>,
  jobs: readonly string[],
  states: readonly OutboxState[],
): Promise<OutboxRow[]> {
  if (jobs.length === 0) return [];
  return db
    .selectFrom('outbox')
    .selectAll()
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('outbox as newest')
        .select(({ fn }) => fn.max('newest.id').as('id'))
        .where('newest.job', 'in', jobs)
        .where('newest.state', 'in', states)
        .groupBy(['newest.job', 'newest.url', 'newest.client_id', 'newest.instance']),
    )
    .execute();
}
