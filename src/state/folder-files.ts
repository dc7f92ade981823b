import { existsSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** All files below a folder; empty if the folder doesn't exist. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** When a file was last modified, in epoch milliseconds; 0 if it doesn't exist. */
export function touchedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Removes a run's folder below `root` if it's empty. */
export function removeIfEmpty(folder: string, root: string): void {
  if (!folder.startsWith(`${root}/`)) return;
  try {
    rmdirSync(folder);
  } catch {
    // The folder still contains another file, or another process has removed it.
  }
}
