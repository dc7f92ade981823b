import type { FileHandle } from 'node:fs/promises';
import { openScratchFile, type Problem } from '#sdk';
import { isSame, type Settled } from './complete.ts';
import { endedEarly, fileChanged, isAway, isRefusal, resumedElsewhere } from './problems.ts';
import type { ReconnectingSession } from './reconnecting-session.ts';
import type { Absent, FileFacts, Session } from './session.ts';

/** Maximum number of consecutive failures without any new bytes. */
const maxBarrenTries = 5;

interface Fetching {
  readonly line: ReconnectingSession;
  /** Path of the local file to write. The file must not exist yet. */
  readonly to: string;
  /** Called as bytes arrive. */
  readonly alive: () => void;
  /** Called before the transfer resumes at this byte offset. */
  readonly onResume: (at: number, problem: Problem) => void;
}

/** Number of bytes before the resume position that are fetched again for a comparison. */
const overlapBytes = 64 * 1024;

/**
 * Downloads one file, all or nothing. After a failure, logs in again and resumes the transfer, but only if the file is
 * certainly unchanged: its size and modification time are the same, and the last bytes received match. If the server
 * doesn't report modification times, the transfer starts over, because parts of two versions must never be joined.
 */
export async function fetchFile(settled: Settled, fetching: Fetching): Promise<void> {
  const handle = await openScratchFile(fetching.to);
  try {
    await fetchInto({ handle, at: 0 }, settled, fetching);
  } finally {
    await handle.close();
  }
}

async function fetchInto(copy: Copy, { file, facts }: Settled, { line, alive, onResume }: Fetching): Promise<void> {
  const { size = Number.POSITIVE_INFINITY } = facts;
  const look = async () => {
    const now = await line.use((session) => session.stat(file.path));
    if ('absent' in now || !isSame(facts, now)) throw fileChanged(file.name, changeOf(facts, now));
  };
  const begin = async (barren: number) => {
    if (barren === 0) return;
    await line.retry(barren);
    await look();
  };
  let furthest = 0;
  for (let barren = 0, isDone = false; !isDone; ) {
    try {
      await begin(barren);
      await line.use((session) => goOn(session, copy, { ...file, size: facts.size, alive }));
      if (copy.at > size) throw fileChanged(file.name, `received more than the expected ${size} bytes`);
      await look();
      // If the connection is closed during a transfer, this looks like the end of the file, and vsftpd even confirms
      // the end.
      if (facts.size !== undefined && copy.at < size)
        throw endedEarly(file.name, `received ${copy.at} of ${size} bytes`);
      isDone = true;
    } catch (error) {
      barren = copy.at > furthest ? 1 : barren + 1;
      furthest = Math.max(furthest, copy.at);
      if (!isAway(error) || barren > maxBarrenTries) throw error;
      if (facts.modified === undefined && copy.at < size) await startOver(copy);
      onResume(copy.at, error);
    }
  }
}

interface Copy {
  readonly handle: FileHandle;
  /** Number of received bytes. */
  at: number;
}

interface Wanted {
  readonly path: string;
  readonly name: string;
  readonly size: number | undefined;
  readonly alive: () => void;
}

/** Continues at the end of the local copy, or starts over if the server doesn't support offsets. */
async function goOn(session: Session, copy: Copy, wanted: Wanted): Promise<void> {
  const from = copy.at;
  if (from === wanted.size && from > 0) return;
  try {
    await copyFrom(session, copy, wanted);
  } catch (error) {
    if (from === 0 || copy.at > from || !isRefusal(error)) throw error;
    await startOver(copy);
    await copyFrom(session, copy, wanted);
  }
}

async function copyFrom(session: Session, copy: Copy, { path, name, size, alive }: Wanted): Promise<void> {
  let overlap = await lastBytes(copy);
  const from = copy.at - overlap.length;
  for await (const chunk of session.read(path, { from, size })) {
    const known = Math.min(overlap.length, chunk.length);
    if (!overlap.subarray(0, known).equals(chunk.subarray(0, known))) {
      await startOver(copy);
      throw resumedElsewhere(name, `the bytes from offset ${from} differ`);
    }
    overlap = overlap.subarray(known);
    await append(copy, chunk.subarray(known));
    if (size !== undefined && copy.at > size) return;
    alive();
  }
}

async function lastBytes({ handle, at }: Copy): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.min(at, overlapBytes));
  await handle.read(bytes, 0, bytes.length, at - bytes.length);
  return bytes;
}

async function startOver(copy: Copy): Promise<void> {
  await copy.handle.truncate(0);
  copy.at = 0;
}

async function append(copy: Copy, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await copy.handle.write(bytes, done, bytes.length - done, copy.at);
    done += bytesWritten;
    copy.at += bytesWritten;
  }
}

function changeOf(before: FileFacts, now: FileFacts | Absent): string {
  if ('absent' in now) return 'it no longer exists';
  if (now.size !== before.size) return `${now.size} bytes, previously ${before.size}`;
  return `modified at ${timeOf(now)}, previously at ${timeOf(before)}`;
}

function timeOf({ modified }: FileFacts): string {
  return modified === undefined ? 'no known time' : new Date(modified).toISOString();
}
