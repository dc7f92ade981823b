import { randomBytes } from 'node:crypto';

/** 32 lowercase hex characters, the shape of every id of the service. */
export function newId(): string {
  return randomBytes(16).toString('hex');
}

/** Time-ordered id of a run: UTC second and six random characters, readable in a log and sortable as text. */
export function newRunId(now: number): string {
  const stamp = new Date(now)
    .toISOString()
    .replace(/[-:]|\.\d+Z$/g, '')
    .replace('T', '-');
  return `${stamp}-${randomBytes(3).toString('hex')}`;
}
