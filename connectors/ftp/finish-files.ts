import { posix } from 'node:path';
import { type FileFinisher, moveTargetExists, type PendingFile, Problem } from '#sdk';
import { isSame } from './complete.ts';
import { baseOf, listedEntry } from './find.ts';
import { isAway, notReadable } from './problems.ts';
import type { ReconnectingSession } from './reconnecting-session.ts';
import type { Session } from './session.ts';

interface ReportedFacts {
  readonly size?: number | undefined;
  readonly modified?: number | undefined;
}

/** A file's facts as they're remembered. A server may not report the size or the time. */
export function rememberedFacts({ size = 0, modified = -1 }: ReportedFacts): { size: number; modified: number } {
  return { size, modified };
}

/** Moves and deletes files on a server. */
export async function remoteFiles(
  line: ReconnectingSession,
  place: { readonly folder: string | undefined; readonly path: string },
): Promise<FileFinisher> {
  const folders = new TargetFolders();
  return {
    folder: await line.use(async ({ home }) => baseOf(home, place)),
    look: (path) => line.use((session) => look(session, path)),
    resume: (file, to) => line.use((session) => resume(session, file, to)),
    move: (file, to) => line.use((session) => move(session, { file, to, folders })),
    remove: (file) => line.use((session) => remove(session, file)),
    removeMarker: (path) => line.use((session) => removeMarker(session, path)),
    close: () => line.close(),
  };
}

/** Servers use the same reply for missing and forbidden files, so the listing decides. */
async function look(session: Session, path: string) {
  const seen = await session.stat(path);
  if (!('absent' in seen) && seen.modified !== undefined) return rememberedFacts(seen);
  const entry = await listedEntry(session, path);
  // Some servers report the time only in the listing.
  if (!('absent' in seen)) return rememberedFacts({ size: seen.size, modified: entry?.modified });
  if (entry !== undefined) throw notReadable(path, seen.absent);
  return undefined;
}

/** The names in the folders to which files are moved. A folder is listed once, because it may have many files. */
class TargetFolders {
  readonly #names = new Map<string, Set<string>>();

  async has(session: Session, path: string): Promise<boolean> {
    if (!('absent' in (await session.stat(path)))) return true;
    const folder = posix.dirname(path);
    // The reply for a file that this user may not see is the one for an absent file.
    const listed = async () => ((await session.isFolder(folder)) ? await session.list(folder) : []);
    const names = this.#names.get(folder) ?? new Set((await listed()).map(({ name }) => name));
    this.#names.set(folder, names);
    return names.has(posix.basename(path));
  }
}

interface RemoteMove {
  readonly file: PendingFile;
  readonly to: string;
  readonly folders: TargetFolders;
}

/** Most FTP servers replace an existing file without an error. */
async function move(session: Session, { file, to, folders }: RemoteMove): Promise<boolean> {
  if (await folders.has(session, to)) throw moveTargetExists(file.path, to);
  try {
    await session.rename(file.path, to);
  } catch (error) {
    if (isAway(error) || !(await makeFolders(session, posix.dirname(to)))) throw error;
    await session.rename(file.path, to);
  }
  return await isReadOrPutBack(session, file, to);
}

/**
 * The name that a file has while it's being deleted. A partner may replace the file at any time, and only after a rename
 * it's certain which file is deleted.
 */
function asideOf({ path }: PendingFile): string {
  const { dir, base } = posix.parse(path);
  return posix.join(dir, `.sluice-${base}`);
}

async function remove(session: Session, file: PendingFile): Promise<boolean> {
  const aside = asideOf(file);
  // Most FTP servers would replace it, and it may be a new file that was never read (see unreadAside).
  if (!('absent' in (await session.stat(aside)))) throw moveTargetExists(file.path, aside);
  try {
    await session.rename(file.path, aside);
  } catch (error) {
    if (isAway(error)) throw error;
    // Some users may delete files, but not rename them. On other servers, this means that the file is being written.
    const now = await look(session, file.path);
    if (!isSame(now, file)) return false;
    await session.remove(file.path);
    return true;
  }
  if (!(await isReadOrPutBack(session, file, aside))) return false;
  await session.remove(aside);
  return true;
}

/** The connection, or an earlier process, may have ended before a renamed file was deleted. */
async function resume(session: Session, file: PendingFile, to: string | undefined): Promise<boolean> {
  const aside = asideOf(file);
  if (to !== undefined || 'absent' in (await session.stat(aside))) return false;
  if (!(await isReadOrPutBack(session, file, aside))) return false;
  await session.remove(aside);
  return true;
}

/**
 * Whether the file that was renamed is the one that was read. If not, undoes this, so that the next run reads it. Only
 * the size is compared, because storage services give a renamed file a new time.
 */
async function isReadOrPutBack(session: Session, { path, size }: PendingFile, to: string): Promise<boolean> {
  const now = await session.stat(to);
  if ('absent' in now || (now.size ?? 0) === size) return true;
  if (!('absent' in (await session.stat(path)))) throw unreadAside(path, to);
  await session.rename(to, path);
  return false;
}

function unreadAside(path: string, to: string): Problem {
  return new Problem({
    code: 'FILES_REPLACED',
    family: 'job',
    message: `${path} was replaced twice while it was being moved; the first of the new files is now ${to}, unread`,
    next: 'to have it read, give it its former name after the newer file was read; otherwise, delete it yourself',
  });
}

async function removeMarker(session: Session, path: string): Promise<boolean> {
  if ((await look(session, path)) === undefined) return false;
  await session.remove(path);
  return true;
}

/** Creates a folder and its parents. Returns false if it exists. */
async function makeFolders(session: Session, folder: string): Promise<boolean> {
  if (await session.isFolder(folder)) return false;
  await makeFolders(session, posix.dirname(folder));
  await session.makeFolder(folder);
  return true;
}
