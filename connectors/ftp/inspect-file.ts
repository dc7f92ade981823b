import { posix } from 'node:path';
import { Problem } from '#sdk';
import { isAway, notReadable } from './problems.ts';
import type { DirectoryEntry, FileFacts, Session } from './session.ts';

/** Why a listed entry is not a file to read. */
export type LeftOut = 'gone' | 'link to a folder' | 'link to nowhere';

/** As many links in a row as Linux follows. */
const maxLinks = 40;

/**
 * Looks at an entry of a listing that is wanted as a file. A file that is listed is read or is an error, because servers
 * use the same words for a file that is missing and for one that they refuse.
 */
export async function inspectFile(session: Session, path: string, entry: DirectoryEntry): Promise<FileFacts | LeftOut> {
  const seen = await statOf(session, path, entry);
  if (seen === 'link to nowhere' || !('absent' in seen)) return seen;
  if (entry.kind === 'link') {
    if (await session.isFolder(path)) return 'link to a folder';
    if (seen.isMissing || (await leadsNowhere(session, path, entry))) return 'link to nowhere';
  }
  if ((await entryAt(session, path)) === 'missing') return 'gone';
  throw notReadable(path, seen.absent);
}

async function statOf(session: Session, path: string, entry: DirectoryEntry) {
  try {
    return await session.stat(path);
  } catch (error) {
    if (entry.kind !== 'link' || isAway(error)) throw error;
    if (isLoop(error) || (await leadsNowhere(session, path, entry))) return 'link to nowhere';
    throw error;
  }
}

/** A link that leads back to itself has no status of its own, so servers hand on the words of their system (ELOOP). */
function isLoop(error: unknown): boolean {
  return error instanceof Problem && /too many levels of symbolic links/i.test(error.seen ?? '');
}

/** Whether it is certain that a symbolic link leads to nothing, or round in a circle. */
async function leadsNowhere(session: Session, path: string, entry: DirectoryEntry): Promise<boolean> {
  let at = path;
  let link = entry;
  for (const seen = new Set<string>(); !seen.has(at) && seen.size < maxLinks; ) {
    seen.add(at);
    const target = await session.linkTarget(at, link);
    if (target === undefined) return false;
    at = posix.resolve(posix.dirname(at), target);
    const next = await entryAt(session, at);
    if (next === 'missing') return true;
    if (next?.kind !== 'link') return false;
    link = next;
  }
  return true;
}

/** What the listing of the nearest folder that can be entered says of a path; undefined if that is not enough to know. */
async function entryAt(session: Session, path: string): Promise<DirectoryEntry | 'missing' | undefined> {
  let [folder, name] = [posix.dirname(path), posix.basename(path)];
  let isInside = true;
  while (!(await session.isFolder(folder))) {
    if (folder === '/') return undefined;
    isInside = false;
    [folder, name] = [posix.dirname(folder), posix.basename(folder)];
  }
  const entry = (await session.list(folder)).find((other) => other.name === name);
  if (entry === undefined) return 'missing';
  return isInside ? entry : undefined;
}
