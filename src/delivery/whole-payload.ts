import { type PayloadState, verifyPayload } from '../pipeline/verify-payload.ts';
import type { Store } from '../state/store.ts';
import type { OutboxRow } from '../state/tables.ts';

/**
 * Verifies a payload's file. If it's missing or damaged, fetches it again if other machines share the state. `verify`:
 * checks the file, by default its hash.
 */
export async function wholePayload(
  row: OutboxRow,
  { blobs }: Pick<Store, 'blobs'>,
  verify: (row: OutboxRow) => PayloadState | Promise<PayloadState> = verifyPayload,
): Promise<PayloadState> {
  const state = await verify(row);
  return state === 'whole' ? state : ((await blobs.fetch(row.path)) ?? state);
}
