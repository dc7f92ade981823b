import type { OutboxRow } from '../tables.ts';

/**
 * Identifies an instance in the store. The key includes the service's URL, because instance IDs are unique only within
 * one service.
 */
export interface InstanceKey {
  readonly url: string;
  readonly clientId?: string;
  readonly instance: string;
}

/** Returns the key of a payload's instance. Receipts and leases use this key. */
export function keyOf(row: Pick<OutboxRow, 'url' | 'client_id' | 'instance'>): InstanceKey {
  return { url: row.url, instance: row.instance, ...(row.client_id === '' ? {} : { clientId: row.client_id }) };
}

/** Returns the key of the instance that a job writes to. */
export function instanceKeyOf(target: {
  readonly destination: { readonly url: string };
  readonly instance: string;
  readonly clientId?: string;
}): InstanceKey {
  const { destination, instance, clientId } = target;
  return { url: destination.url, instance, clientId };
}
