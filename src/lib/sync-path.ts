import { closeSync, fsync, openSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Syncs an open file, so that its bytes survive a power loss. */
export const syncDescriptor: (descriptor: number) => Promise<void> = promisify(fsync);

/**
 * Syncs a file's bytes or a folder's entries, so that they survive a power loss. A rename survives it only after the
 * parent folder is synced. Opening a path needs no disk access, so only the sync runs on the thread pool.
 */
export async function syncPath(path: string): Promise<void> {
  const descriptor = openSync(path, 'r');
  try {
    await syncDescriptor(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Syncs a folder and everything in it, so that they survive a power loss. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // Sync one entry at a time, because opening thousands of files at once would exceed the process's limit.
    await (entry.isDirectory() ? syncTree(path) : syncPath(path));
  }
  await syncPath(folder);
}
