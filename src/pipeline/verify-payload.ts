import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readSmallFile, smallBytes } from '../lib/small-file.ts';
import type { Payload } from './payload.ts';
import { spoolProblem } from './spool-problem.ts';

const chunkBytes = 1024 * 1024;

/** The condition of a payload's file. */
export type PayloadState = 'whole' | 'missing' | 'damaged';

type Expected = Pick<Payload, 'path' | 'bytes' | 'sha256'>;

/**
 * Checks whether a payload's file is intact: it exists, and its size and hash match. Small files are read
 * synchronously, so that payloads checked together keep their order; larger ones are streamed.
 */
export async function verifyPayload(payload: Expected): Promise<PayloadState> {
  try {
    return payload.bytes <= smallBytes ? verifySmall(payload) : await verifyLarge(payload);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'missing';
    // If the disk can't read a block, that data is lost.
    if (code === 'EIO' && syscall === 'read') return 'damaged';
    throw spoolProblem(error, dirname(payload.path));
  }
}

function verifySmall({ path, bytes, sha256 }: Expected): PayloadState {
  const whole = readSmallFile(path, bytes);
  return whole !== undefined && createHash('sha256').update(whole).digest('hex') === sha256 ? 'whole' : 'damaged';
}

async function verifyLarge({ path, bytes, sha256 }: Expected): Promise<PayloadState> {
  const handle = await open(path, 'r');
  try {
    if ((await handle.stat()).size !== bytes) return 'damaged';
    return (await hashOf(handle)) === sha256 ? 'whole' : 'damaged';
  } finally {
    await handle.close();
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
