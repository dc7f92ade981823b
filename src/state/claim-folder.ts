import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../lib/problem.ts';
import { databaseName } from './backup/backup-files.ts';
import { idName } from './blobs/state-id.ts';
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

/** Returns the ID in a file. If the file doesn't exist, creates it with the ID `fresh` in one step. */
function idIn(file: string, fresh: string): string {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, `${fresh}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, 'utf8').trim();
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
