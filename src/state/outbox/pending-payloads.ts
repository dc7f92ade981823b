import type { StoreContext } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import type { OutboxRow } from '../tables.ts';
import type { InstanceKey } from './instance-key.ts';

/** Payloads that wait for an instance, including quarantined and dead ones. Oldest first. */
export async function pendingPayloads(
  { db }: StoreContext,
  { url, clientId = '', instance }: InstanceKey,
): Promise<OutboxRow[]> {
  return oldestFirst(await waiting(db, { url, clientId, instance }));
}

const waiting = prepared((db, value: BoundValue<Required<InstanceKey>>) =>
  db
    .selectFrom('outbox')
    .selectAll()
    .where('url', '=', value('url'))
    .where('client_id', '=', value('clientId'))
    .where('instance', '=', value('instance'))
    .where('state', 'in', ['owed', 'quarantined', 'dead']),
);

/** Sorts the few rows of hot queries in memory: with ORDER BY, SQLite would prepare the statement again each time. */
export function oldestFirst(rows: OutboxRow[]): OutboxRow[] {
  return rows.sort((a, b) => a.id - b.id);
}
