import { rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { refuseForeignLinks } from '../lib/foreign-links.ts';

/** Returns when a file was last modified, in epoch milliseconds. Returns 0 if the file doesn't exist. */
export function touchedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Removes a file, if it exists. Root removes none to which the path leads through another user's link. */
export function removeFile(path: string): void {
  refuseForeignLinks(dirname(path));
  rmSync(path, { force: true });
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
