import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../../lib/problem.ts';
import { databaseName } from '../backup/backup-files.ts';

/**
 * Returns whether a state folder has a database. If the folder doesn't exist, returns false. Throws `STATE_UNUSABLE` if
 * this user has no permission to read the folder or if the path can't be resolved, because returning false would then
 * hide a running daemon and owed payloads.
 */
export function hasDatabase(folder: string): boolean {
  try {
    return statSync(join(folder, databaseName), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw new Problem({
      code: 'STATE_UNUSABLE',
      family: 'config',
      message: `The state folder cannot be read: ${(error as Error).message}`,
      seen: folder,
      allowed: 'a folder that this user can read',
      next: 'run this command as the owner of the state folder, or as root; or correct the path in the config',
      cause: error,
    });
  }
}
