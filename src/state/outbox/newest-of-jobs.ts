import type { StoreContext } from '../engine/context.ts';
import type { OutboxRow } from '../tables.ts';

/** Returns the newest owed or delivered payload of each of these jobs at each of the job's instances. */
export async function newestOfJobs({ db }: Pick<StoreContext, 'db'>, jobs: readonly string[]): Promise<OutboxRow[]> {
  if (jobs.length === 0) return [];
  return db
    .selectFrom('outbox')
    .selectAll()
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('outbox as newest')
        .select(({ fn }) => fn.max('newest.id').as('id'))
        .where('newest.job', 'in', jobs)
        .where('newest.state', 'in', ['owed', 'delivered'])
        .groupBy(['newest.job', 'newest.url', 'newest.client_id', 'newest.instance']),
    )
    .execute();
}
