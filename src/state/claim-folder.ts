import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLine } from '../lib/command-line.ts';
import { Problem } from '../lib/problem.ts';
import { databaseName } from './backup/backup-files.ts';
import type { Store } from './store.ts';

/** The setting that identifies a state on a server, and the name of the file that identifies its folder. */
export const idName = 'state.id';

/**
 * Ensures that the folder contains the payloads of this state, whose database is on a server. The first process to use
 * the state decides which folder that is. With any other folder, recovery would consider all owed payloads lost
 * (`STATE_FOLDER_UNKNOWN`), or delete another state's payloads (`STATE_FOLDER_TAKEN`).
 */
export async function claimFolder({ folder, settings }: Pick<Store, 'folder' | 'settings'>): Promise<void> {
  if (existsSync(join(folder, databaseName))) throw taken(folder, databaseName);
  const file = join(folder, idName);
  const id = await settings.find(idName);
  if (id !== undefined && !existsSync(file)) throw unknown(file, id);
  const fresh = randomUUID();
  const recorded = idIn(file, fresh);
  const claimed = recorded === fresh ? await settings.addOnce(idName, fresh) : (id ?? (await laterId(settings)));
  if (claimed === recorded) return;
  if (recorded !== fresh) throw taken(folder, idName);
  // Meanwhile, a process with another folder has become the first one to use the state.
  rmSync(file);
  throw unknown(file, claimed!);
}

/** Returns the ID in a file. If the file doesn't exist, creates it with the ID `fresh` in one step. */
function idIn(file: string, fresh: string): string {
  const draft = `${file}.${fresh}`;
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

const waitMs = 50;
const maxWaitMs = 2000;

/** Waits for another process that has just created the file and is about to record its ID in the database. */
async function laterId(settings: Store['settings']): Promise<string | undefined> {
  for (let waited = 0; waited < maxWaitMs; waited += waitMs) {
    const id = await settings.find(idName);
    if (id !== undefined) return id;
    await sleep(waitMs);
  }
  return undefined;
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

function unknown(file: string, id: string): Problem {
  return new Problem({
    code: 'STATE_FOLDER_UNKNOWN',
    family: 'config',
    message: "The cache folder doesn't contain this state's payloads, which are in another folder",
    seen: file,
    next: `set "cache" to that folder, mounted on this machine; if it is lost, stop all other processes, then give up the payloads that were not sent: echo ${id} > ${commandLine(file)}`,
  });
}
