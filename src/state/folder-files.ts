import { existsSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Returns all files below a folder, or an empty list if the folder doesn't exist. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Returns when a file was last modified, in epoch milliseconds. Returns 0 if the file doesn't exist. */
export function touchedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Removes a folder below `root` if the folder is empty. */
export function removeIfEmpty(folder: string, root: string): void {
  if (!folder.startsWith(`${root}/`)) return;
  try {
    rmdirSync(folder);
  } catch {
    // The folder still contains a file, or another process has already removed the folder.
  }
}
