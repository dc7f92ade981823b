import { type FileHandle, open, rm } from 'node:fs/promises';

/**
 * Opens an empty scratch file for reading and writing. What stands at `path` is removed and never written through: it may be the
 * file of an earlier pass over the same source, or a link.
 */
export async function openScratchFile(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  return open(path, 'wx+');
}
