import { open } from 'node:fs/promises';

/** A rename survives a power cut only once the folder that lists the file is synced. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
