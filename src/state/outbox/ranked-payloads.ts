import type { StoreContext } from '../engine/context.ts';

/**
 * Creates a query for the payloads that were delivered to instances. An instance's newest payload has `rank` 1. If an
 * instance was rolled back to a payload, both deliveries count as one payload, because they have the same file.
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
