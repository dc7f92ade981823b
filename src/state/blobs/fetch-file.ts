import { createHash } from 'node:crypto';
import type { BlobBackend } from './blob-storage.ts';
import { writeWhole } from './write-whole.ts';

export interface FetchFileOptions {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly storedAt: number;
}

/** Fetches a blob into a file. The file exists only when all of its bytes have been verified and synced to disk. */
export async function fetchFile(
  { db, storage }: BlobBackend,
  { path, sha256, ...blob }: FetchFileOptions,
): Promise<'whole' | 'missing' | 'damaged'> {
  const hash = createHash('sha256');
  let length = 0;
  async function* measured(): AsyncGenerator<Buffer> {
    for await (const piece of storage.read({ ...blob, db })) {
      hash.update(piece);
      length += piece.length;
      yield piece;
    }
  }
  const isWhole = (): boolean => length === blob.bytes && hash.digest('hex') === sha256;
  if (await writeWhole(path, measured(), { isWhole })) return 'whole';
  return length === 0 ? 'missing' : 'damaged';
}
