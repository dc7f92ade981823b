import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../lib/make-folder.ts';
import type { Repositories, Store } from '../store.ts';
import { settingOf } from './suspects.ts';

/** Recorded as the holder if a job is put on hold because it blocked the process twice. */
export const blockedHolder = 'sluice';

/** Written by the event-loop watchdog before it ends a blocked process. */
export interface BlockedRecord {
  /** What the main thread waited for. If the disk doesn't respond, the source isn't at fault. */
  readonly by: 'source' | 'disk';
  /** How long the event loop was blocked. */
  readonly seconds: number;
  /** Runs that were reading their sources. */
  readonly runs: readonly { readonly job: string; readonly run: string; readonly source: string }[];
  /** Call stack of the main thread, innermost first: function and location. Empty if it was outside JavaScript. */
  readonly stack: readonly string[];
}

/** Where these records are kept for the next start. */
export function blockedFolder(state: string): string {
  return join(state, 'blocked');
}

/**
 * Like {@link blockedFolder}, but creates the folder in advance, so that a process that is being ended doesn't have to.
 */
export function makeBlockedFolder(state: string): string {
  const folder = blockedFolder(state);
  makeFolder(folder, 0o700);
  return folder;
}

/**
 * Processes the records of blocked processes. If a job's run was reading when the process blocked, the job becomes a
 * suspect. If a suspect is reading when a process blocks again, it's put on hold. Suspects run alone, so a job that
 * only ran at the same time isn't put on hold. Returns the suspects.
 */
export async function takeBlockedRuns(store: Store): Promise<Set<string>> {
  for (const name of recordsIn(blockedFolder(store.folder))) {
    const path = join(blockedFolder(store.folder), name);
    const record = readRecord(path);
    if (record !== undefined) await store.transaction((parts) => settle(parts, name, record));
    rmSync(path, { force: true });
  }
  const settings = await store.settings.below(settingOf(''));
  return new Set(settings.map(({ name }) => name.slice(settingOf('').length)));
}

async function settle(parts: Repositories, name: string, record: BlockedRecord): Promise<void> {
  if (record.by === 'disk') return interrupt(parts, record);
  const known = new Map((await parts.settings.below(settingOf(''))).map((one) => [one.name, one.value]));
  // Already recorded: the process died before the file was removed.
  if ([...known.values()].includes(name)) return;
  const again = record.runs.filter(({ job }) => known.has(settingOf(job)));
  await interrupt(parts, record);
  if (again.length === 0) for (const { job } of record.runs) await parts.settings.set(settingOf(job), name);
  for (const { job } of again) {
    await parts.settings.forget(settingOf(job));
    await parts.holds.set(job, {
      who: blockedHolder,
      why: `two consecutive runs blocked the process${at(record)}`,
    });
  }
}

async function interrupt({ runs }: Repositories, record: BlockedRecord): Promise<void> {
  for (const { run } of record.runs) await runs.finish(run, { state: 'interrupted', problem: blockedWords(record) });
}

/** Code and message for a process that was ended because its event loop was blocked. */
export function blockedWords(record: Pick<BlockedRecord, 'by' | 'seconds' | 'stack'>): {
  code: string;
  message: string;
  next: string;
} {
  const seconds = Math.round(record.seconds);
  if (record.by === 'disk') {
    return {
      code: 'DISK_STALLED',
      message: `The state folder's disk did not respond for ${seconds} s, so the process exited`,
      next: 'check the disk, or the server that provides it; the source is not the cause, and the job will run again',
    };
  }
  return {
    code: 'RUN_BLOCKED',
    message: `The event loop was blocked for ${seconds} s while the run was reading its source, so the process exited${at(record)}`,
    next: "check the source's data, and report the problem with the location in the code; the job will run again, alone and after all other jobs",
  };
}

/** The innermost frame outside Node's own code. */
function at({ stack }: Pick<BlockedRecord, 'stack'>): string {
  const place = stack.find((frame) => !frame.includes('(node:')) ?? stack[0];
  return place === undefined ? '' : `, in ${place}`;
}

function recordsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}

/** Undefined for a record that was truncated because the disk was full. */
function readRecord(path: string): BlockedRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as BlockedRecord;
  } catch {
    return undefined;
  }
}
