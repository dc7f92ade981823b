import { closeSync, constants, fchownSync, fstatSync, openSync, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * What root makes in a folder of somebody else belongs to them, as SQLite has it for its own files: a command by root beside a
 * service would otherwise leave what the service cannot read. Takes a file that was just made by `O_CREAT | O_EXCL`, by its
 * descriptor, so that nothing else can take its place meanwhile, and the folder it is in. For everybody but root it does nothing.
 */
export function giveToOwner(descriptor: number, folder: string): void {
  if (process.geteuid?.() === 0) give(descriptor, statSync(folder));
}

/** The same for a folder that was just made. */
export function giveFolderToOwner(path: string): void {
  if (process.geteuid?.() === 0) giveEntry(path, statSync(dirname(path)));
}

/**
 * The same for a folder that was just made and all that root has put into it. The folder itself goes last: until then nobody else
 * can reach what is in it, and so put other files in its place.
 */
export function giveTreeToOwner(path: string): void {
  if (process.geteuid?.() === 0) giveTree(path, statSync(dirname(path)));
}

function giveTree(path: string, owner: Stats): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) giveTree(inside, owner);
    else giveEntry(inside, owner);
  }
  giveEntry(path, owner);
}

/** By its descriptor, never through a link. */
function giveEntry(path: string, owner: Stats): void {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    give(descriptor, owner);
  } finally {
    closeSync(descriptor);
  }
}

function give(descriptor: number, { uid, gid }: Stats): void {
  if (uid === 0 || !isOursAlone(fstatSync(descriptor))) return;
  try {
    fchownSync(descriptor, uid, gid);
  } catch (error) {
    // A container's root may have been denied that, or lack that user.
    if (!['EPERM', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** What root just made is root's, and a file has no second name. */
function isOursAlone(stat: Stats): boolean {
  return stat.uid === 0 && (stat.isDirectory() || (stat.isFile() && stat.nlink === 1));
}
