import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it that are missing, as `mkdir -p` does; one that is there stays as it is. Throws the
 * system's error. Node's own `recursive` never comes back where a folder exists but refuses new ones with "no such
 * file", as those of /proc do.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (thrown) {
    // Somebody else may have been faster.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw thrown;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
