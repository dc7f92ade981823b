import type { BigIntStats } from 'node:fs';
import { access, constants, link, lstat, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  type FileFinisher,
  linkNotFinished,
  moveTargetExists,
  type PendingFile,
  topOf,
  type WrittenPath,
  writtenPaths,
} from '#sdk';
import { unlessAbsent, unreadable } from './find.ts';
import { versionOf } from './watched-input.ts';

interface LocalFilesOptions {
  /** The absolute folder of the source. */
  readonly folder: string;
  /** The query's path. */
  readonly path: WrittenPath;
  /** Creates a second name for a file. Some file systems can't. */
  readonly addName?: typeof link;
}

/** Moves and deletes files on this machine. */
export function localFiles({ folder, path: written, addName = link }: LocalFilesOptions): FileFinisher {
  const names = new Names(addName);
  // The folders in which the files are, whichever of them and of their folders come and go.
  const tops = new Set(writtenPaths(written).map((path) => resolve(folder, topOf(path))));
  return {
    folder,

    async look(path) {
      const now = await statsOf(path);
      if (now !== undefined) return { modified: Number(now.mtimeMs), size: Number(now.size), version: versionOf(now) };
      // If the folder is gone, it may only be unmounted, so this doesn't mean that the file was deleted.
      for (const top of tops) {
        await stat(top).catch((error: unknown) => {
          throw unreadable(top, error);
        });
      }
      return undefined;
    },

    async resume(file, to) {
      const aside = asideOf(file);
      const held = await entryOf(aside);
      if (held === undefined) return false;
      const isOwn = isRead(held, file);
      if (isOwn && to === undefined) {
        await unlink(aside);
        return true;
      }
      const next = isOwn && to !== undefined ? to : file.path;
      await makeFolder(dirname(next));
      await names.moveTo(aside, next);
      return isOwn;
    },

    async move(file, to) {
      await refuseLink(file.path);
      // Otherwise, the file would get a second name, which changes it, and couldn't lose its first.
      await access(dirname(file.path), constants.W_OK);
      await makeFolder(dirname(to));
      const hasNames = await names.add(file.path, to);
      if (!hasNames) return await moveWithoutNames(file, to, names);
      // A file that isn't moved must not keep two names, nor lose its only one.
      const undo = async () => {
        if (await isSameFile(file.path, to).catch(() => false)) await unlink(to);
      };
      if (!isRead(await lstat(to, { bigint: true }), file)) {
        await undo();
        return false;
      }
      await syncFolder(dirname(to));
      const isAside = await setAside(file, names).catch(async (error: unknown) => {
        await undo();
        throw error;
      });
      if (isAside) await unlink(asideOf(file));
      return true;
    },

    isHalfMoved: (from, to) => isSameFile(from, to).catch(() => false),

    async remove(file) {
      await refuseLink(file.path);
      if (!(await setAside(file, names))) return false;
      await unlink(asideOf(file));
      return true;
    },

    // Local files have no markers.
    removeMarker: async () => false,

    close: () => undefined,
  };
}

/**
 * The name that a file has while it's being moved or deleted. No other call can tell which file it removes from a path:
 * a partner may replace it at any time, but doesn't know its name after it was renamed.
 */
function asideOf({ path, version = '' }: PendingFile): string {
  return join(dirname(path), `.sluice-${version.split('-')[0]}`);
}

/** Whether this is the file that was read. Its `ctime` has changed, because it has got another name. */
function isRead({ ino, mtimeNs, size }: BigIntStats, file: PendingFile): boolean {
  return Number(size) === file.size && file.version?.startsWith(`${ino}-${mtimeNs}-`) === true;
}

/** Renames the file that is at the path. If it isn't the one that was read, undoes this and returns false. */
async function setAside(file: PendingFile, names: Names): Promise<boolean> {
  const aside = asideOf(file);
  if ((await entryOf(aside)) !== undefined) throw moveTargetExists(file.path, aside);
  try {
    await rename(file.path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  if (isRead(await lstat(aside, { bigint: true }), file)) return true;
  await names.moveTo(aside, file.path);
  return false;
}

/** Between the check and the last step, another program could create a file with the new path. */
async function moveWithoutNames(file: PendingFile, to: string, names: Names): Promise<boolean> {
  if ((await entryOf(to)) !== undefined) throw moveTargetExists(file.path, to);
  if (!(await setAside(file, names))) return false;
  await names.moveTo(asideOf(file), to);
  await syncFolder(dirname(to));
  return true;
}

/** Moves files without ever replacing one, which `rename` does without an error. */
class Names {
  readonly #addName: typeof link;

  constructor(addName: typeof link) {
    this.#addName = addName;
  }

  /**
   * Gives a file a second name. Succeeds if an earlier process has done so. Returns false if the file system can't.
   * Throws if another file has that name.
   */
  async add(from: string, to: string): Promise<boolean> {
    try {
      await this.#addName(from, to);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (withoutLinks.has(code)) return false;
      if (code !== 'EEXIST') throw error;
      if (!(await isSameFile(from, to).catch(() => false))) throw moveTargetExists(from, to);
    }
    return true;
  }

  async moveTo(from: string, to: string): Promise<void> {
    if (await this.add(from, to)) return await unlink(from);
    if ((await entryOf(to)) !== undefined) throw moveTargetExists(from, to);
    await rename(from, to);
  }
}

/** Returned by file systems without hard links, and for files of other users (`fs.protected_hardlinks`). */
const withoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

async function refuseLink(path: string): Promise<void> {
  if ((await entryOf(path))?.isSymbolicLink() === true) throw linkNotFinished(path);
}

async function isSameFile(from: string, to: string): Promise<boolean> {
  const [a, b] = await Promise.all([lstat(from, { bigint: true }), lstat(to, { bigint: true })]);
  return a.ino === b.ino && a.dev === b.dev;
}

/** Creates a folder and its parents, durably. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** Some file systems can't sync a folder, and a folder that a user may write to may not be readable. */
const unsyncable: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EACCES', 'EPERM', 'EISDIR']);

async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    if (!unsyncable.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

async function statsOf(path: string): Promise<BigIntStats | undefined> {
  return await stat(path, { bigint: true }).catch((error: unknown) => unlessAbsent(path, error));
}

/** Like {@link statsOf}, but of a link itself. */
async function entryOf(path: string): Promise<BigIntStats | undefined> {
  return await lstat(path, { bigint: true }).catch((error: unknown) => unlessAbsent(path, error));
}
