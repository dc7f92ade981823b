import { rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../lib/make-folder.ts';
import type { ConnectorLog } from '../sdk/connector.ts';
import { spoolProblem } from './spool-problem.ts';

/** A source that was abandoned may go on writing for a moment, so the folder isn't empty when it's removed. */
const patience = { maxRetries: 5, retryDelay: 50 };

/** Creates a run's scratch folder, if it doesn't exist yet, and returns its path. */
export function makeScratch(path: string): string {
  try {
    makeFolder(path, 0o700);
    return path;
  } catch (error) {
    throw spoolProblem(error, dirname(path));
  }
}

/**
 * Removes a run's scratch folder. Most sources don't need it or leave it empty, so the quick way to remove an empty
 * folder is tried first. A folder that can't be removed doesn't change the run's result: the next start removes it.
 */
export async function removeScratch(path: string, log: Pick<ConnectorLog, 'warn'>): Promise<void> {
  try {
    rmdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    await rm(path, { recursive: true, force: true, ...patience }).catch((why: unknown) =>
      log.warn('Failed to delete temporary files of the source', { error: String(why) }),
    );
  }
}
