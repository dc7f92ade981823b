import { posix } from 'node:path';
import { type FileFinisher, moveTargetExists } from '#sdk';
import { isAway, notReadable } from './problems.ts';
import type { ReconnectingSession } from './reconnecting-session.ts';
import type { FileFacts, Session } from './session.ts';

/** A file's facts as they're remembered. A server may not report the size or the time. */
export function rememberedFacts({ size = 0, modified = -1 }: FileFacts): { size: number; modified: number } {
  return { size, modified };
}

/** Moves and deletes files on a server. */
export function remoteFiles(line: ReconnectingSession): FileFinisher {
  return {
    look: (path) => line.use((session) => look(session, path)),
    move: (from, to) => line.use((session) => move(session, from, to)),
    remove: (path) => line.use((session) => session.remove(path)),
    close: () => line.close(),
  };
}

/** Servers use the same reply for missing and forbidden files, so the listing decides. */
async function look(session: Session, path: string) {
  const seen = await session.stat(path);
  if (!('absent' in seen)) return rememberedFacts(seen);
  const entries = await session.list(posix.dirname(path));
  if (entries.some(({ name }) => name === posix.basename(path))) throw notReadable(path, seen.absent);
  return undefined;
}

/** Most FTP servers replace an existing file without an error. */
async function move(session: Session, from: string, to: string): Promise<void> {
  if (!('absent' in (await session.stat(to)))) throw moveTargetExists(from, to);
  try {
    await session.rename(from, to);
  } catch (error) {
    if (isAway(error) || !(await makeFolders(session, posix.dirname(to)))) throw error;
    await session.rename(from, to);
  }
}

/** Creates a folder and its parents. Returns false if it exists. */
async function makeFolders(session: Session, folder: string): Promise<boolean> {
  if (await session.isFolder(folder)) return false;
  await makeFolders(session, posix.dirname(folder));
  await session.makeFolder(folder);
  return true;
}
