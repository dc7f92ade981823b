import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { type DatedFile, Problem, type RecordInput } from '#sdk';
import { type FoundFile, unreadable } from './find.ts';

const maxChunkBytes = 256 * 1024;

/**
 * A file that must not change while it's being read. If another program rewrote, extended or replaced it, the data
 * would mix two versions.
 */
export async function watchFile(
  { path, name }: FoundFile,
  signal: AbortSignal,
): Promise<DatedFile & { readonly version: string; readonly input: RecordInput }> {
  const before = await look(path);
  const input: RecordInput = {
    name,
    file: path,
    local: path,
    modified: before.mtime,
    unchanged: async () => {
      signal.throwIfAborted();
      refuseChange(name, before, await look(path));
    },
    open: () => read({ path, name, before, signal }),
  };
  return { path, modified: Number(before.mtimeMs), size: Number(before.size), version: versionOf(before), input };
}

interface Watched {
  readonly path: string;
  readonly name: string;
  readonly before: BigIntStats;
  readonly signal: AbortSignal;
}

async function* read({ path, name, before, signal }: Watched): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted();
  const handle = await opened(path);
  try {
    refuseChange(name, before, await handle.stat({ bigint: true }));
    // If a stream is already aborted when it's created, it emits a second error later, when it no longer has a
    // listener.
    signal.throwIfAborted();
    const highWaterMark = Math.min(Number(before.size), maxChunkBytes) || maxChunkBytes;
    yield* handle.createReadStream({ highWaterMark, autoClose: false, signal }) as AsyncIterable<Buffer>;
    refuseChange(name, before, await look(path));
  } catch (error) {
    // If the stream was aborted, the signal's reason is thrown instead.
    signal.throwIfAborted();
    throw error instanceof Problem || !isSystemError(error) ? error : unreadable(path, error);
  } finally {
    await handle.close();
  }
}

async function opened(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function look(path: string): Promise<BigIntStats> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    throw unreadable(path, error);
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/**
 * Programs can set a file's modification time to an earlier time (`touch -r`, `cp -p`), but they can't set its ctime.
 */
const comparedFacts = ['size', 'mtimeNs', 'ctimeNs', 'ino'] as const;

/** Identifies a file's content on this machine, because a new file can have the size and the time of a former one. */
export function versionOf({ ino, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino}-${mtimeNs}-${ctimeNs}`;
}

function refuseChange(name: string, before: BigIntStats, now: BigIntStats): void {
  if (comparedFacts.every((fact) => before[fact] === now[fact])) return;
  throw new Problem({
    code: 'FILE_CHANGED',
    family: 'try_later',
    message: `${name} was written to while it was being read`,
    seen: `${now.size} bytes, previously ${before.size}`,
    next: 'write the file under another name and rename it when it is complete',
  });
}
