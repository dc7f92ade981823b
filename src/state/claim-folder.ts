import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createPrivateFile } from '../lib/private-file.ts';
import { Problem } from '../lib/problem.ts';
import { databaseName } from './backup/backup-files.ts';
import { idName } from './blobs/state-id.ts';
import { folderProblem } from './engine/folder-problem.ts';
import type { Store } from './store.ts';

/**
 * Ensures that the folder contains copies of this state's files and of no other state's, which would be deleted as not
 * needed (`STATE_FOLDER_TAKEN`).
 */
export async function claimFolder({ folder, settings }: Pick<Store, 'folder' | 'settings'>): Promise<void> {
  if (existsSync(join(folder, databaseName))) throw taken(folder, databaseName);
  const id = await settings.addOnce(idName, randomUUID());
  if (idIn(join(folder, idName), id) !== id) throw taken(folder, idName);
}

/**
 * Returns the ID in a file. If the file doesn't exist, creates it with the ID `fresh` in one step. Throws
 * `STATE_UNUSABLE` if this user can't write or read the file.
 */
function idIn(file: string, fresh: string): string {
  try {
    if (!existsSync(file)) createOnce(file, `${fresh}\n`);
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw folderProblem(error, { folder: dirname(file), file, kind: 'cache' });
  }
}

/** Creates a file that is complete as soon as it exists, unless another process creates it first. */
function createOnce(file: string, text: string): void {
  const draft = `${file}.${randomUUID()}`;
  const descriptor = createPrivateFile(draft);
  try {
    writeFileSync(descriptor, text);
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    closeSync(descriptor);
    rmSync(draft);
  }
}

/** Creates the error for a cache folder that contains another state's file. */
export function taken(folder: string, file: string): Problem {
  return new Problem({
    code: 'STATE_FOLDER_TAKEN',
    family: 'config',
    message: 'The cache folder belongs to another state',
    seen: join(folder, file),
    next: 'set "cache" to another folder, or move this folder away if its state is not needed',
  });
}
