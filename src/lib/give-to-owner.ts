import { closeSync, constants, fchownSync, fstatSync, openSync, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Gives a file that root created in another user's folder to that user, as SQLite does with its own files. Otherwise, a
 * command that root runs alongside a service would leave files that the service can't read. The file must be new
 * (`O_CREAT | O_EXCL`) and is passed as a descriptor, because a path could be replaced in the meantime. Does nothing
 * for users other than root.
 */
export function giveToOwner(descriptor: number, folder: string): void {
  if (process.geteuid?.() === 0) give(descriptor, statSync(folder));
}

/** Like {@link giveToOwner}, for a new folder. */
export function giveFolderToOwner(path: string): void {
  if (process.geteuid?.() === 0) giveEntry(path, statSync(dirname(path)));
}

/**
 * Like {@link giveToOwner}, for a new folder and everything that root has put into it. The folder itself is handed over
 * last, so that no other user can reach or replace its contents before that.
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

/** Opens the path without following a link, and changes the owner through the descriptor. */
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
    // Root in a container may lack the capability (EPERM), and the container may lack the user (EINVAL).
    if (!['EPERM', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Whether root owns the entry, and the entry is a folder or a file without other hard links. */
function isOursAlone(stat: Stats): boolean {
  return stat.uid === 0 && (stat.isDirectory() || (stat.isFile() && stat.nlink === 1));
}
