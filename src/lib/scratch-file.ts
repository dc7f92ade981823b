import { type FileHandle, open, rm } from 'node:fs/promises';

/**
 * Opens an empty scratch file for reading and writing. An existing file at `path` is removed rather than overwritten,
 * because it may belong to an earlier pass over the same source, or be a link.
 */
export async function openScratchFile(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  return open(path, 'wx+');
}
