import type { OutboxRow } from '../tables.ts';

/** Identifies an instance in the store. IDs are unique only per service, so the service URL is part of the key. */
export interface InstanceKey {
  readonly url: string;
  readonly clientId?: string;
  readonly instance: string;
}

/** The key of a payload's instance, as receipts and leases use it. */
export function keyOf(row: Pick<OutboxRow, 'url' | 'client_id' | 'instance'>): InstanceKey {
  return { url: row.url, instance: row.instance, ...(row.client_id === '' ? {} : { clientId: row.client_id }) };
}

/** The key of the instance that a job writes to. */
export function instanceKeyOf(target: {
  readonly destination: { readonly url: string };
  readonly instance: string;
  readonly clientId?: string;
}): InstanceKey {
  const { destination, instance, clientId } = target;
  return { url: destination.url, instance, clientId };
}
