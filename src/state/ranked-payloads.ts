import type { Ground } from './part.ts';

/** Payloads that instances were given, as a query: `rank` 1 is the newest of its instance. */
export function rankedPayloads({ db }: Pick<Ground, 'db'>) {
  return db
    .selectFrom('outbox')
    .select(['run', 'path', 'settled_at'])
    .select(({ fn }) =>
      fn
        .agg<number>('row_number')
        .over((over) => over.partitionBy(['url', 'client_id', 'instance']).orderBy('id', 'desc'))
        .as('rank'),
    )
    .where('state', '=', 'delivered');
}
