import { posix } from 'node:path';
import { Problem } from '#sdk';
import { isAway, notReadable } from './problems.ts';
import type { DirectoryEntry, FileFacts, Session } from './session.ts';

/** Why an entry in a listing can't be read as a file. */
export type LeftOut = 'gone' | 'link to a folder' | 'link to nowhere';

/** Maximum number of links to follow from one path. Linux has the same limit. */
const maxLinks = 40;

/**
 * Checks an entry in a listing that should be a file. Throws if the file can't be read. The file must not be skipped,
 * because servers use the same messages for missing and forbidden files.
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

/** A link that refers to itself has no status, so the server returns the operating system's error message for ELOOP. */
function isLoop(error: unknown): boolean {
  return error instanceof Problem && /too many levels of symbolic links/i.test(error.seen ?? '');
}

/** Whether a symbolic link is certainly dangling or circular. */
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

/**
 * The path's entry in the listing of its parent folder, or 'missing' if a listing shows that the path doesn't exist.
 * Undefined if the listings aren't conclusive.
 */
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
