import { utimesSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { sql } from 'kysely';
import type { Manifest, Segment, StagedRanges } from '../../kept-rows/manifest.ts';
import { Problem } from '../../lib/problem.ts';
import { StateBlobs } from '../blobs/blobs.ts';
import type { StoreContext } from '../engine/context.ts';

/** The folder of all files with kept rows. */
export const keptRoot = ({ folder }: Pick<StoreContext, 'folder'>): string => join(folder, 'sets');

/** Stores the files of segments. Call this before the transaction that refers to them. */
export async function storeSegments(context: StoreContext, segments: readonly Segment[]): Promise<void> {
  await new StateBlobs(context).put(segments.map(({ file }) => ({ path: join(keptRoot(context), file) })));
}

/** Throws `SET_DAMAGED` if a segment isn't stored. Otherwise, the transaction may refer to the segments. */
export async function assertStored(inside: StoreContext, segments: readonly Segment[]): Promise<void> {
  const blobs = new StateBlobs(inside);
  if (!blobs.areShared) return;
  const paths = segments.map(({ file }) => join(keptRoot(inside), file));
  const stored = await blobs.pin(paths);
  const lost = paths.find((path) => !stored.has(path));
  if (lost !== undefined) throw damaged(lost);
}

/**
 * Fetches the files of segments that this machine doesn't have, or whose copies are damaged. A file that can't be
 * fetched is reported by the code that reads it.
 */
export async function fetchSegments(context: StoreContext, segments: readonly Segment[]): Promise<void> {
  const blobs = new StateBlobs(context);
  if (!blobs.areShared) return;
  for (const segment of segments) {
    const path = join(keptRoot(context), segment.file);
    if (await isWhole(path, segment)) touch(path);
    else await blobs.fetch(path);
  }
}

/** Marks a copy as used, so that it's evicted later. */
function touch(path: string): void {
  const now = new Date();
  utimesSync(path, now, now);
}

const blockBytes = 256 * 1024;

/** Returns whether a file has the segment's size and checksum. */
async function isWhole(path: string, { bytes, crc }: Segment): Promise<boolean> {
  const handle = await open(path, 'r').catch(() => undefined);
  if (handle === undefined) return false;
  try {
    const block = Buffer.allocUnsafe(blockBytes);
    let [length, sum] = [0, 0];
    for (let read = -1; read !== 0; length += read) {
      ({ bytesRead: read } = await handle.read(block, 0, blockBytes));
      sum = crc32(block.subarray(0, read), sum);
    }
    return length === bytes && sum === crc;
  } finally {
    await handle.close();
  }
}

/** Returns whether the file is used by a generation of any job or by an unfinished backfill. */
export async function isKept({ db }: StoreContext, file: string): Promise<boolean> {
  const named = `%${JSON.stringify(file).replaceAll(/[%_\\]/g, '\\$&')}%`;
  const generation = await db
    .selectFrom('generations')
    .select('run')
    .where(sql<boolean>`manifest like ${named} escape '\\'`)
    .limit(1)
    .executeTakeFirst();
  if (generation !== undefined) return true;
  const backfill = await db
    .selectFrom('backfills')
    .select('job')
    .where(sql<boolean>`staged like ${named} escape '\\'`)
    .limit(1)
    .executeTakeFirst();
  return backfill !== undefined;
}

function damaged(path: string): Problem {
  return new Problem({
    code: 'SET_DAMAGED',
    family: 'job',
    message: `A file with the job's kept rows is missing: ${path}`,
    next: 'let the job read everything again: sluice state clear JOB; if the source no longer has all rows, restore a backup',
  });
}

/** Returns the files of a stored manifest. */
export function filesOf({ manifest }: { readonly manifest: string }): string[] {
  return (JSON.parse(manifest) as Manifest).segments.map(({ file }) => file);
}

/** Returns the files of a backfill that isn't finished. */
export function stagedFiles({ staged }: { readonly staged: string | null }): string[] {
  return staged === null ? [] : (JSON.parse(staged) as StagedRanges).segments.map(({ file }) => file);
}
