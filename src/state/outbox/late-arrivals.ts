import { type Kysely, sql } from 'kysely';
import type { OutboxRow, Tables } from '../tables.ts';

/** A request that was given up is not carried out any more when so much time has passed. */
export const lateMs = 10 * 60_000;

type Of = Pick<OutboxRow, 'url' | 'client_id' | 'instance'>;

/** An instance that may be given old data yet: the payload that it was given last, and when an attempt at other bytes was given up. */
export interface LateArrival {
  readonly id: number;
  readonly since: number;
}

/**
 * Instances, or only the one, that may be given old data yet: other bytes were tried within the ten minutes before they were
 * given what they show. Asked all the time, and nearly always for nothing: the attempts without an answer are few, so they
 * are looked for first, and all else begins from them.
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
    // With a plus, lest SQLite begin with all payloads in these states.
    .where(sql<string>`+rival.state`, 'in', ['superseded', 'delivered'])
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
