import { statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { filesBelow } from '../lib/files-below.ts';
import type { Store } from './store.ts';
import type { OutboxState } from './tables.ts';

/** The kinds of files that are distinguished in a state folder. */
export const diskUsageKinds = [
  'owed',
  'quarantined',
  'dead',
  'kept',
  'rows',
  'spooling',
  'history',
  'former',
  'other',
] as const;
export type DiskUsageKind = (typeof diskUsageKinds)[number];

export interface DiskUsage {
  readonly kind: DiskUsageKind;
  readonly files: number;
  readonly bytes: number;
}

interface Sized {
  readonly path: string;
  readonly bytes: number;
}

/**
 * States in descending priority. A file that several payloads share counts under the first of their states in this
 * list.
 */
const ranks: readonly OutboxState[] = ['owed', 'quarantined', 'dead', 'delivered'];

/** Returns the total size of all files in a folder, in bytes. */
export function bytesIn(folder: string): number {
  return sizesBelow(folder).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** A store whose files can be measured. */
export type DiskUser = Pick<Store, 'folder' | 'outbox' | 'blobs'>;

/** Returns the disk usage of a store's folder and blobs by kind of file. The largest kind is first. */
export async function diskUsageOf({ folder, outbox, blobs }: DiskUser): Promise<DiskUsage[]> {
  return diskUsageIn(folder, await outbox.inState(...ranks), await blobs.all());
}

/** Total bytes of several kinds. */
export const totalBytes = (holdings: readonly DiskUsage[]): number =>
  holdings.reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * Returns the disk usage of a state folder by kind of file. The largest kind is first. `payloads` are the payloads in
 * the folder's outbox. `blobs` also count.
 */
export function diskUsageIn(
  folder: string,
  payloads: Iterable<{ readonly path: string; readonly state: OutboxState }>,
  blobs: readonly Sized[] = [],
): DiskUsage[] {
  const states = new Map<string, OutboxState>();
  for (const { path, state } of payloads) if (rankOf(state) < rankOf(states.get(path))) states.set(path, state);
  const sums = new Map<DiskUsageKind, { files: number; bytes: number }>();
  for (const { path, bytes } of [...sizesBelow(folder), ...blobs]) {
    const kind = kindOf(relative(folder, path), states.get(path));
    const { files = 0, bytes: before = 0 } = sums.get(kind) ?? {};
    sums.set(kind, { files: files + 1, bytes: before + bytes });
  }
  return [...sums].map(([kind, sum]) => ({ kind, ...sum })).sort((a, b) => b.bytes - a.bytes);
}

function rankOf(state: OutboxState | undefined): number {
  const rank = state === undefined ? -1 : ranks.indexOf(state);
  return rank === -1 ? ranks.length : rank;
}

function kindOf(path: string, state: OutboxState | undefined): DiskUsageKind {
  const [first = ''] = path.split(sep, 1);
  if (first === 'sets') return 'rows';
  if (first.startsWith('sluice.db')) return 'history';
  if (/^(before-|\.backup-|\.restore-)/.test(first)) return 'former';
  if (first !== 'payloads') return 'other';
  if (state === 'owed' || state === 'quarantined' || state === 'dead') return state;
  return state === 'delivered' ? 'kept' : 'spooling';
}

/**
 * Returns the sizes of all files below a folder. Other processes may create and delete files at the same time; a file
 * that has just been deleted counts as 0 bytes.
 */
function sizesBelow(folder: string): Sized[] {
  return filesBelow(folder).map((path) => ({ path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 }));
}
