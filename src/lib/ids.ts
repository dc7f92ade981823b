import { randomBytes } from 'node:crypto';

/** A random ID of 32 lowercase hex characters, like all IDs of the service. */
export function newId(): string {
  return randomBytes(16).toString('hex');
}

/** Time-ordered run ID: the UTC time to the second and six random characters. Readable in logs and sortable as text. */
export function newRunId(now: number): string {
  const stamp = new Date(now)
    .toISOString()
    .replace(/[-:]|\.\d+Z$/g, '')
    .replace('T', '-');
  return `${stamp}-${randomBytes(3).toString('hex')}`;
}
