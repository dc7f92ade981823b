import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** A request that was given up is not carried out any more when so much time has passed. */
export const lateMs = 10 * 60_000;

/**
 * Instances that may be given old data yet, each with the payload (id) that it was given last: other bytes were tried within
 * the ten minutes before that, and `since` is when the last such attempt was given up.
 */
export function contested(db: Kysely<Tables>) {
  return db
    .selectFrom('outbox as rival')
    .innerJoin('receipts', (join) =>
      join
        .onRef('receipts.url', '=', 'rival.url')
        .onRef('receipts.client_id', '=', 'rival.client_id')
        .onRef('receipts.instance', '=', 'rival.instance'),
    )
    .innerJoin('outbox as given', (join) =>
      join
        .onRef('given.url', '=', 'rival.url')
        .onRef('given.client_id', '=', 'rival.client_id')
        .onRef('given.instance', '=', 'rival.instance')
        .onRef('given.sha256', '=', 'receipts.sha256')
        .on('given.state', '=', 'delivered'),
    )
    .select(({ fn }) => [fn.max('given.id').as('id'), fn.max('rival.unanswered_at').as('since')])
    .where('rival.unanswered_at', 'is not', null)
    .where('rival.state', 'in', ['superseded', 'delivered'])
    .where('receipts.certain', '=', 1)
    .whereRef('rival.sha256', '<>', 'receipts.sha256')
    .where((where) => where('rival.unanswered_at', '>', where('receipts.at', '-', lateMs)))
    .groupBy(['rival.url', 'rival.client_id', 'rival.instance']);
}
