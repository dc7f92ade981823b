import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Kysely } from 'kysely';
import { Problem } from '../../lib/problem.ts';
import type { Tables } from '../tables.ts';
import { type BlobBackend, pieceBytes } from './blob-storage.ts';

export interface StoreFileOptions {
  readonly name: string;
  readonly path: string;
  /** The expected hash, if it's known. */
  readonly sha256?: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Stores a file as a blob. The blob exists only when all of its bytes are stored. Does nothing if the file doesn't
 * exist. Throws `PAYLOAD_DAMAGED` if its bytes differ from what was written.
 */
export async function storeFile(
  { db, storage }: Pick<BlobBackend, 'db' | 'storage'>,
  file: StoreFileOptions,
): Promise<void> {
  const handle = await openFile(file.path);
  if (handle === undefined) return;
  const { name, now } = file;
  const write = async (db: Kysely<Tables>): Promise<void> => {
    const { size: bytes } = await handle.stat();
    await removeFormer({ db, storage }, name);
    await begin(db, { name, bytes, now });
    let hash = createHash('sha256');
    await storage.write({ name, bytes, storedAt: now, db }, () => {
      hash = createHash('sha256');
      return piecesOf(handle, { bytes, hash });
    });
    const sha256 = hash.digest('hex');
    if (sha256 !== (file.sha256 ?? sha256)) throw changed(file.path);
    await db.updateTable('blobs').set({ sha256 }).where('name', '=', name).where('stored_at', '=', now).execute();
  };
  try {
    await (storage.isInDatabase && !db.isTransaction ? db.transaction().execute(write) : write(db));
  } finally {
    await handle.close();
  }
}

async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes what an earlier blob with this name may have left behind outside of the database. */
async function removeFormer({ db, storage }: Pick<BlobBackend, 'db' | 'storage'>, name: string): Promise<void> {
  if (storage.isInDatabase) return;
  const former = await db.selectFrom('blobs').select('stored_at').where('name', '=', name).executeTakeFirst();
  if (former !== undefined) await storage.remove({ name, storedAt: Math.abs(former.stored_at), db });
}

/** Lists the blob as incomplete, so that a sweep removes it if this process dies. */
async function begin(
  db: Kysely<Tables>,
  { name, bytes, now }: { name: string; bytes: number; now: number },
): Promise<void> {
  const values = { bytes, sha256: null, stored_at: now };
  await db
    .insertInto('blobs')
    .values({ name, ...values })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
    .execute();
}

/** Reads exactly `bytes` bytes. Each piece is valid until the next one is read. */
async function* piecesOf(handle: FileHandle, { bytes, hash }: { bytes: number; hash: Hash }): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(Math.min(bytes, pieceBytes));
  for (let left = bytes; left > 0; ) {
    const { bytesRead } = await handle.read(piece, 0, Math.min(left, piece.length), bytes - left);
    if (bytesRead === 0) return;
    left -= bytesRead;
    hash.update(piece.subarray(0, bytesRead));
    yield piece.subarray(0, bytesRead);
  }
}

function changed(path: string): Problem {
  return new Problem({
    code: 'PAYLOAD_DAMAGED',
    family: 'job',
    message: 'The payload file differs from what was written',
    seen: path,
    next: 'run the job again; if it happens again, check the disk that holds the cache folder',
  });
}
