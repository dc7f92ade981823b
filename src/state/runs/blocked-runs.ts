import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../lib/make-folder.ts';
import type { Repositories, Store } from '../store.ts';
import { settingOf } from './suspects.ts';

/** Who put a job on hold, as recorded if the job blocked the process twice. */
export const blockedHolder = 'sluice';

/** A record that the event-loop watchdog writes before it ends a blocked process. */
export interface BlockedRecord {
  /** What the main thread was waiting for. If it was the disk, the source isn't to blame. */
  readonly by: 'source' | 'disk';
  /** How long the event loop had been blocked, in seconds. */
  readonly seconds: number;
  /** The runs that were reading their sources at that time. */
  readonly runs: readonly { readonly job: string; readonly run: string; readonly source: string }[];
  /**
   * The main thread's call stack, innermost frame first. Each entry is a function and its location. Empty if the thread
   * wasn't executing JavaScript.
   */
  readonly stack: readonly string[];
}

/** Returns the folder in which these records are kept until the next start. */
export function blockedFolder(state: string): string {
  return join(state, 'blocked');
}

/** Like {@link blockedFolder}, but creates the folder, so that the watchdog doesn't have to when it ends a process. */
export function makeBlockedFolder(state: string): string {
  const folder = blockedFolder(state);
  makeFolder(folder, 0o700);
  return folder;
}

/**
 * Processes the records of blocked processes. If a job's run was reading its source when the process was blocked, the
 * job becomes a suspect. If a suspect's run is reading when a process is blocked again, the suspect is put on hold.
 * Suspects run alone, so a job isn't put on hold just because it ran at the same time. Returns the suspects.
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
  // The record was already processed, but the process died before it deleted the file.
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

/** Returns the error code and message for a process that was ended because its event loop was blocked. */
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

/** Describes the innermost frame that isn't in Node's own code. */
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

/** Reads a record. Returns undefined if the record is incomplete because the disk was full. */
function readRecord(path: string): BlockedRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as BlockedRecord;
  } catch {
    return undefined;
  }
}
