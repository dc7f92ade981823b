import type { OutboxRow } from '../tables.ts';

/** An instance as the store knows it: ids are one service's, so the service's address is part of the name. */
export interface InstanceKey {
  readonly url: string;
  readonly clientId?: string;
  readonly instance: string;
}

/** Where a payload goes, as receipts and leases name it. */
export function keyOf(row: Pick<OutboxRow, 'url' | 'client_id' | 'instance'>): InstanceKey {
  return { url: row.url, instance: row.instance, ...(row.client_id === '' ? {} : { clientId: row.client_id }) };
}

/** The same of the instance that a job writes to at a destination. */
export function instanceKeyOf(target: {
  readonly destination: { readonly url: string };
  readonly instance: string;
  readonly clientId?: string;
}): InstanceKey {
  const { destination, instance, clientId } = target;
  return { url: destination.url, instance, clientId };
}
