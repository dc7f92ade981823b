import { closeSync, constants, fchownSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * What root makes in a folder of somebody else belongs to them, as SQLite has it for its own files: a command by root beside a
 * service would otherwise leave what the service cannot read. Takes a file that was just made, by its descriptor, so that
 * nothing else can take its place meanwhile, and the folder it is in. For everybody but root it does nothing.
 */
export function giveToOwner(descriptor: number, folder: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  if (uid === 0) return;
  try {
    fchownSync(descriptor, uid, gid);
  } catch (error) {
    // A container's root may have been denied that, or lack that user.
    if (!['EPERM', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** The same for a file or a folder at its place, which nobody else can have changed since it was made. */
export function giveEntryToOwner(path: string): void {
  if (process.geteuid?.() !== 0) return;
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    giveToOwner(descriptor, dirname(path));
  } finally {
    closeSync(descriptor);
  }
}

/** The same for a folder and all that is in it, the folder first. */
export function giveTreeToOwner(path: string): void {
  giveEntryToOwner(path);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) giveTreeToOwner(inside);
    else giveEntryToOwner(inside);
  }
}
