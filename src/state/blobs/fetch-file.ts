import { createHash, randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../../lib/make-folder.ts';
import { createPrivateHandle } from '../../lib/private-file.ts';
import { stateFileProblem } from '../engine/state-problem.ts';
import type { BlobBackend } from './blob-storage.ts';

export interface FetchFileOptions {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Fetches a blob into a file. The file exists only when all of its bytes have been verified and synced to disk. */
export async function fetchFile(
  { db, storage }: BlobBackend,
  { name, path, bytes, sha256 }: FetchFileOptions,
): Promise<'whole' | 'missing' | 'damaged'> {
  const draft = `${path}.${randomBytes(4).toString('hex')}.part`;
  const handle = await create(draft);
  try {
    const hash = createHash('sha256');
    let length = 0;
    for await (const piece of storage.read({ name, bytes, db })) {
      hash.update(piece);
      length += piece.length;
      await onDisk(path, () => handle.writeFile(piece));
    }
    if (length !== bytes || hash.digest('hex') !== sha256) return length === 0 ? 'missing' : 'damaged';
    await onDisk(path, () => handle.sync());
    renameSync(draft, path);
    return 'whole';
  } finally {
    await handle.close();
    rmSync(draft, { force: true });
  }
}

function create(path: string): Promise<FileHandle> {
  return onDisk(path, () => {
    makeFolder(dirname(path), 0o700);
    return createPrivateHandle(path);
  });
}

async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw stateFileProblem(error, path) ?? error;
  }
}
