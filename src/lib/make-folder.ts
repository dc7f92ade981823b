import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { inDiskStep } from './disk-steps.ts';
import { refuseForeignLinks } from './foreign-links.ts';
import { giveFolderToOwner } from './give-to-owner.ts';

/**
 * Creates a folder and its missing parents, like `mkdir -p`; an existing folder is left unchanged. Throws the system's
 * error, and `FOREIGN_LINK` if root would follow another user's link. Node's own `recursive` option never returns if an
 * existing folder rejects new ones with "no such file", as in /proc. `lasting`: makes the folders survive a power loss.
 */
export function makeFolder(path: string, mode = 0o777, { lasting = false }: { lasting?: boolean } = {}): void {
  refuseForeignLinks(path);
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above, mode, { lasting });
  try {
    mkdirSync(path, { mode });
    giveFolderToOwner(path);
    if (lasting) syncList(above);
  } catch (thrown) {
    // Another process may have created it first.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw thrown;
  }
}

/**
 * Syncs a folder, because a new entry survives a power loss only after its parent folder is synced. A folder that can't
 * be read can't be synced.
 */
function syncList(folder: string): void {
  if (!isReadable(folder)) return;
  const descriptor = openSync(folder, 'r');
  try {
    inDiskStep(() => fsyncSync(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

function isReadable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
