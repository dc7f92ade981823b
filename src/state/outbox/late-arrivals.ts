import { type Kysely, sql } from 'kysely';
import type { OutboxRow, Tables } from '../tables.ts';

/** How long the service may still process a request after Sluice has abandoned it, in milliseconds. */
export const lateMs = 10 * 60_000;

type Of = Pick<OutboxRow, 'url' | 'client_id' | 'instance'>;

/**
 * An instance that may still receive old data: the ID of its last payload, and the time when an attempt with different
 * content was abandoned.
 */
export interface LateArrival {
  readonly id: number;
  readonly since: number;
}

/**
 * Returns the instances that may still receive old data, because different content was tried in the ten minutes before
 * the current content was accepted. `of` selects a single instance. This query runs often and usually finds nothing, so
 * it first looks for unanswered attempts, of which there are few.
 */
export async function lateArrivals(db: Kysely<Tables>, of?: Of): Promise<LateArrival[]> {
  if (!(await hasUnanswered(db, of))) return [];
  const rivals = db
    .selectFrom('outbox as rival')
    .crossJoin('receipts')
    .crossJoin('outbox as given')
    .whereRef('receipts.url', '=', 'rival.url')
    .whereRef('receipts.client_id', '=', 'rival.client_id')
    .whereRef('receipts.instance', '=', 'rival.instance')
    .whereRef('given.url', '=', 'rival.url')
    .whereRef('given.client_id', '=', 'rival.client_id')
    .whereRef('given.instance', '=', 'rival.instance')
    .whereRef('given.sha256', '=', 'receipts.sha256')
    .where('given.state', '=', 'delivered')
    .select(({ fn }) => [fn.max<number>('given.id').as('id'), fn.max<number>('rival.unanswered_at').as('since')])
    .where('rival.unanswered_at', 'is not', null)
    // `coalesce` prevents SQLite from using the index on `state`. With the index, it would first scan all payloads in
    // these states.
    .where(({ eb, fn, val }) => eb(fn.coalesce('rival.state', val('')), 'in', ['superseded', 'delivered']))
    .where('receipts.certain', '=', 1)
    .whereRef('rival.sha256', '<>', 'receipts.sha256')
    .where((where) => where('rival.unanswered_at', '>', where('receipts.at', '-', lateMs)))
    .groupBy(['rival.url', 'rival.client_id', 'rival.instance']);
  if (of === undefined) return rivals.execute();
  return rivals
    .where('rival.url', '=', of.url)
    .where('rival.client_id', '=', of.client_id)
    .where('rival.instance', '=', of.instance)
    .execute();
}

async function hasUnanswered(db: Kysely<Tables>, of: Of | undefined): Promise<boolean> {
  const all = db.selectFrom('outbox').select('id').where('unanswered_at', 'is not', null).limit(sql.lit(1));
  if (of === undefined) return (await all.executeTakeFirst()) !== undefined;
  const { url, client_id, instance } = of;
  const own = all.where('url', '=', url).where('client_id', '=', client_id).where('instance', '=', instance);
  return (await own.executeTakeFirst()) !== undefined;
}
