import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { refuseForeignLinks } from './foreign-links.ts';
import { giveFolderToOwner } from './give-to-owner.ts';

/**
 * Makes a folder and those above it that are missing, as `mkdir -p` does; one that is there stays as it is. Throws the
 * system's error, and `FOREIGN_LINK` where root would follow somebody else's link. Node's own `recursive` never comes back where a folder exists but refuses new ones with "no such
 * file", as those of /proc do. `lasting`: what is made is there after a power cut, too.
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
    // Somebody else may have been faster.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw thrown;
  }
}

/** A new entry survives a power cut only once the folder that lists it is synced. One that we may not read we cannot sync. */
function syncList(folder: string): void {
  if (!isReadable(folder)) return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
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
