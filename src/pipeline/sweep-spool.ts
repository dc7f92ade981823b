import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { spoolProblem } from './spool-problem.ts';
import { ownerState } from './temp-file-owner.ts';

/**
 * If the owner can't be checked (it's in another container on the same volume), a file that hasn't been written to for
 * a day counts as abandoned.
 */
const silentMs = 24 * 60 * 60 * 1000;

/**
 * Removes what dead processes left in the payload folder: temporary files and scratch folders. Keeps live processes'
 * files and all finished payloads. Returns the removed names, or none if the folder is missing.
 */
export async function sweepSpool(folder: string, now: number = Date.now()): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    if (!(await isLeftover(path, name, now))) continue;
    await rm(path, { recursive: true, force: true });
    removed.push(name);
  }
  return removed;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw spoolProblem(error, folder);
  }
}

async function isLeftover(path: string, name: string, now: number): Promise<boolean> {
  const fate = ownerState(name);
  if (fate !== 'unknown') return fate === 'dead';
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && now - found.mtimeMs > silentMs;
}
