import type { Ground } from './part.ts';
import type { InstanceKey } from './receipts.ts';
import type { OutboxRow } from './tables.ts';

/** What an instance is still waiting for, those included that guards hold back or that are dead. */
export function outstanding({ db }: Ground, key: InstanceKey): Promise<OutboxRow[]> {
  return db
    .selectFrom('outbox')
    .selectAll()
    .where('url', '=', key.url)
    .where('client_id', '=', key.clientId ?? '')
    .where('instance', '=', key.instance)
    .where('state', 'in', ['owed', 'quarantined', 'dead'])
    .orderBy('id')
    .execute();
}
