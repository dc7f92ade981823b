import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The paths of all files below a folder. A folder that doesn't exist has none. Other processes may remove folders
 * meanwhile, for which Node's own recursive listing throws an error.
 */
export function filesBelow(folder: string): string[] {
  return entriesIn(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

/** The entries of a folder; none if it doesn't exist. */
export function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
