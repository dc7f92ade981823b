import type { StoreContext } from '../engine/context.ts';

/**
 * A query for the payloads delivered to instances: `rank` 1 is an instance's newest payload. A payload that was rolled
 * back to counts only once, because it's the same file.
 */
export function rankedPayloads({ db }: Pick<StoreContext, 'db'>) {
  const given = db
    .selectFrom('outbox')
    .select(['run', 'path', 'settled_at', 'url', 'client_id', 'instance'])
    .select(({ fn }) =>
      fn
        .agg<number>('max', ['id'])
        .over((over) => over.partitionBy(['url', 'client_id', 'instance', 'path']))
        .as('newest'),
    )
    .where('state', '=', 'delivered');
  return db
    .selectFrom(given.as('given'))
    .select(['run', 'path', 'settled_at'])
    .select(({ fn }) =>
      fn
        .agg<number>('dense_rank')
        .over((over) => over.partitionBy(['url', 'client_id', 'instance']).orderBy('newest', 'desc'))
        .as('rank'),
    );
}
