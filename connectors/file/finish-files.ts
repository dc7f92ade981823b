import type { BigIntStats } from 'node:fs';
import { link, lstat, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type FileFinisher, moveTargetExists } from '#sdk';
import { unreadable } from './find.ts';

/** Moves and deletes files on this machine. */
export const localFiles: FileFinisher = {
  async look(path) {
    const now = await statsOf(path);
    if (now !== undefined) return { modified: Number(now.mtimeMs), size: Number(now.size) };
    // If the folder is gone, it may only be unmounted, so this doesn't mean that the file was deleted.
    await stat(dirname(path)).catch((error: unknown) => {
      throw unreadable(dirname(path), error);
    });
    return undefined;
  },

  /** A second name and then the removal of the first, because `rename` replaces an existing file without an error. */
  async move(from, to) {
    await mkdir(dirname(to), { recursive: true });
    try {
      await link(from, to);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (withoutLinks.has(code)) return renameUnlessExists(from, to);
      if (code !== 'EEXIST' || !(await isSameFile(from, to)))
        throw code === 'EEXIST' ? moveTargetExists(from, to) : error;
    }
    await syncFolder(dirname(to));
    await unlink(from).catch(async (error: unknown) => {
      await unlink(to);
      throw error;
    });
  },

  remove: (path) => unlink(path),

  close: () => undefined,
};

/** Returned by file systems without hard links, and for files of other users (`fs.protected_hardlinks`). */
const withoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

async function renameUnlessExists(from: string, to: string): Promise<void> {
  const isFree = await lstat(to).then(
    () => false,
    () => true,
  );
  if (!isFree) throw moveTargetExists(from, to);
  await rename(from, to);
}

/** True if an earlier process ended between the two steps. */
async function isSameFile(from: string, to: string): Promise<boolean> {
  const [a, b] = await Promise.all([lstat(from, { bigint: true }), lstat(to, { bigint: true })]);
  return a.ino === b.ino && a.dev === b.dev;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function statsOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw unreadable(path, error);
  }
}
