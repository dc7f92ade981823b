import { Problem } from '../../lib/problem.ts';
import type { Payload } from '../../pipeline/payload.ts';
import { StateBlobs } from '../blobs/blobs.ts';
import type { StoreContext } from '../engine/context.ts';

/**
 * Throws `PAYLOAD_DAMAGED` if the payload's file is missing or its size is wrong. Otherwise, the transaction may refer
 * to the file.
 */
export async function assertWhole(inside: StoreContext, payload: Payload): Promise<void> {
  const size = (await new StateBlobs(inside).pin([payload.path])).get(payload.path);
  if (size === payload.bytes) return;
  throw new Problem({
    code: 'PAYLOAD_DAMAGED',
    family: 'job',
    message: 'The payload file differs from what was written',
    seen: size === undefined ? `no file ${payload.path}` : `${size} bytes in ${payload.path}`,
    allowed: `${payload.bytes} bytes`,
    next: 'run the job again; if it happens again, check the disk that holds the state folder',
  });
}
