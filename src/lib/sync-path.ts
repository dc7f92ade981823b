import { closeSync, fsync, openSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Waits until the bytes of an open file survive a power cut. */
export const syncDescriptor: (descriptor: number) => Promise<void> = promisify(fsync);

/**
 * Waits until a file's bytes, or a folder's list, survive a power cut. A rename does so only once the folder that lists the
 * file is synced. Opening takes no disk, so only the sync itself is handed to another thread.
 */
export async function syncPath(path: string): Promise<void> {
  const descriptor = openSync(path, 'r');
  try {
    await syncDescriptor(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Waits until a folder survives a power cut with all that is in it, at any depth. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // One at a time: thousands of open files are more than a process may have.
    await (entry.isDirectory() ? syncTree(path) : syncPath(path));
  }
  await syncPath(folder);
}
