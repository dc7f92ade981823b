import { closeSync, constants, fchmodSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { refuseLinksIn } from '../lib/foreign-links.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { ensurePrivateFile } from '../lib/private-file.ts';
import { folderProblem } from './engine/folder-problem.ts';

/** Creates the folder, and `file` in it, if they don't exist. Only their owner can use them. */
export function prepareFolder(folder: string, file?: string): void {
  try {
    makeFolder(join(folder, 'payloads'), 0o700, { lasting: true });
    refuseLinksIn(folder);
    restrict(folder);
    if (file !== undefined) ensurePrivateFile(file);
  } catch (error) {
    throw folderProblem(error, { folder, file });
  }
}

/** Removes other users' permissions from a folder. */
function restrict(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fchmodSync(descriptor, 0o700);
  } finally {
    closeSync(descriptor);
  }
}
