import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Payload } from './payload.ts';
import { spoolProblem } from './spool-problem.ts';

const chunkBytes = 1024 * 1024;

/** Whether a payload's file still is what was written: there, of its size, with its hash. Reads it as a stream. */
export async function verifyPayload(
  payload: Pick<Payload, 'path' | 'bytes' | 'sha256'>,
): Promise<'whole' | 'missing' | 'damaged'> {
  const handle = await openOr(payload.path);
  if (handle === undefined) return 'missing';
  try {
    if ((await handle.stat()).size !== payload.bytes) return 'damaged';
    return (await hashOf(handle)) === payload.sha256 ? 'whole' : 'damaged';
  } catch (error) {
    // A disk that cannot read a block back has lost it.
    if ((error as NodeJS.ErrnoException).code === 'EIO') return 'damaged';
    throw spoolProblem(error, dirname(payload.path));
  } finally {
    await handle.close();
  }
}

async function openOr(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw spoolProblem(error, dirname(path));
  }
}

async function hashOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, null);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(chunk.subarray(0, bytesRead));
  }
}
