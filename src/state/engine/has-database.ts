import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../../lib/problem.ts';
import { databaseName } from '../backup/backup-files.ts';

/**
 * Whether the state folder has a database; false if there is no such folder or file. Throws `STATE_UNUSABLE` if this
 * user lacks permission or the path can't be resolved, because returning false would hide a running daemon and owed
 * payloads.
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
