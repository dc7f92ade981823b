import { type FileHandle, open } from 'node:fs/promises';
import type { Problem } from '#sdk';
import { isSame, type Settled } from './complete.ts';
import type { Line } from './line.ts';
import { endedEarly, fileChanged, isAway, isRefusal } from './problems.ts';
import type { Facts, Session } from './session.ts';

/** So many times in a row a transfer may break without a byte having come in between. */
const mostBarrenTries = 5;

interface Fetching {
  readonly line: Line;
  /** Where the bytes go: a file of ours that is not there yet. */
  readonly to: string;
  /** Called as bytes arrive. */
  readonly alive: () => void;
  /** Called when the transfer broke and is about to go on at this byte. */
  readonly onResume: (at: number, problem: Problem) => void;
}

/**
 * Brings one file here, whole or not at all. A broken transfer goes on where it broke, over another login, when the file
 * is still what it was; a file that is not, or that gives more or fewer bytes than it has, is a problem.
 */
export async function fetchFile(settled: Settled, fetching: Fetching): Promise<void> {
  const handle = await open(fetching.to, 'w');
  try {
    await fetchInto({ handle, at: 0 }, settled, fetching);
  } finally {
    await handle.close();
  }
}

async function fetchInto(copy: Copy, { file, facts }: Settled, { line, alive, onResume }: Fetching): Promise<void> {
  const look = async () => {
    const now = await line.use((session) => session.stat(file.path));
    if (!isSame(facts, now)) throw fileChanged(file.name, changeOf(facts, now));
  };
  const begin = async (barren: number) => {
    if (barren === 0) return;
    await line.retry(barren);
    await look();
  };
  for (let barren = 0, isDone = false; !isDone; ) {
    const before = copy.at;
    try {
      await begin(barren);
      await line.use((session) => goOn(session, copy, { path: file.path, size: facts.size, alive }));
      if (copy.at > facts.size) throw fileChanged(file.name, `it has more than its ${facts.size} bytes`);
      await look();
      // A connection that somebody on the way ends looks like the end of the file, and vsftpd confirms it.
      if (copy.at < facts.size) throw endedEarly(file.name, `${copy.at} bytes came of ${facts.size}`);
      isDone = true;
    } catch (error) {
      barren = copy.at > before ? 1 : barren + 1;
      if (!isAway(error) || barren > mostBarrenTries) throw error;
      onResume(copy.at, error);
    }
  }
}

interface Copy {
  readonly handle: FileHandle;
  /** How many bytes are here. */
  at: number;
}

interface Wanted {
  readonly path: string;
  readonly size: number;
  readonly alive: () => void;
}

/** Reads on from where the copy ends; from the start again, where the server cannot begin in the middle. */
async function goOn(session: Session, copy: Copy, wanted: Wanted): Promise<void> {
  const from = copy.at;
  if (from === wanted.size && from > 0) return;
  try {
    await copyFrom(session, copy, wanted);
  } catch (error) {
    if (from === 0 || copy.at > from || !isRefusal(error)) throw error;
    copy.at = 0;
    await copyFrom(session, copy, wanted);
  }
}

async function copyFrom(session: Session, copy: Copy, { path, size, alive }: Wanted): Promise<void> {
  for await (const chunk of session.read(path, { from: copy.at, size })) {
    for (let done = 0; done < chunk.length; ) {
      const { bytesWritten } = await copy.handle.write(chunk, done, chunk.length - done, copy.at);
      done += bytesWritten;
      copy.at += bytesWritten;
    }
    if (copy.at > size) return;
    alive();
  }
}

function changeOf(before: Facts, now: Facts | undefined): string {
  if (now === undefined) return 'it is gone';
  if (now.size !== before.size) return `${now.size} bytes, ${before.size} before`;
  return `modified at ${timeOf(now)}, before at ${timeOf(before)}`;
}

function timeOf({ modified }: Facts): string {
  return modified === undefined ? 'no known time' : new Date(modified).toISOString();
}
