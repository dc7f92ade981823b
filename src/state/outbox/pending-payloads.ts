import type { StoreContext } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import type { OutboxRow } from '../tables.ts';
import type { InstanceKey } from './instance-key.ts';

/** Returns the payloads that are waiting for an instance, oldest first. Quarantined and dead payloads are included. */
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

/**
 * Sorts rows in memory. Queries that run often and return few rows use this instead of ORDER BY, with which SQLite
 * would compile the statement again each time.
 */
export function oldestFirst(rows: OutboxRow[]): OutboxRow[] {
  return rows.sort((a, b) => a.id - b.id);
}
