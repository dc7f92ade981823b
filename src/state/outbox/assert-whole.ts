import { statSync } from 'node:fs';
import { Problem } from '../../lib/problem.ts';
import type { Payload } from '../../pipeline/payload.ts';

/** Throws `PAYLOAD_DAMAGED` if the payload's file is missing or its size is wrong. */
export function assertWhole(payload: Payload): void {
  const size = statSync(payload.path, { throwIfNoEntry: false })?.size;
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
