import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../lib/make-folder.ts';
import type { Repositories, Store } from '../store.ts';
import { settingOf } from './suspects.ts';

/** Who holds a job that blocked the process twice. */
export const blockedHolder = 'sluice';

/** What the watch over the event loop writes down before it ends a process that is blocked. */
export interface BlockedRecord {
  /** What the main thread waited for: a disk that does not answer is no fault of a source. */
  readonly by: 'source' | 'disk';
  /** For how long the event loop gave nothing a turn. */
  readonly seconds: number;
  /** The runs that were reading their source. */
  readonly runs: readonly { readonly job: string; readonly run: string; readonly source: string }[];
  /** Where the main thread was, innermost first: function and place in the code. Empty where it was outside of JavaScript. */
  readonly stack: readonly string[];
}

/** Where such records wait for the next start. */
export function blockedFolder(state: string): string {
  return join(state, 'blocked');
}

/** The same, made where it is missing: a process that is about to be ended should have to make nothing. */
export function makeBlockedFolder(state: string): string {
  const folder = blockedFolder(state);
  makeFolder(folder, 0o700);
  return folder;
}

/**
 * Takes over what blocked processes left behind. A run that was being read when its process was blocked makes its job a
 * suspect; a suspect that is there again when it happens is put on hold. Suspects run alone, so a job that merely ran
 * beside a bad one is not held. Returns the suspects.
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
  // Written down already, and the process died before the file was removed.
  if ([...known.values()].includes(name)) return;
  const again = record.runs.filter(({ job }) => known.has(settingOf(job)));
  await interrupt(parts, record);
  if (again.length === 0) for (const { job } of record.runs) await parts.settings.set(settingOf(job), name);
  for (const { job } of again) {
    await parts.settings.forget(settingOf(job));
    await parts.holds.set(job, {
      who: blockedHolder,
      why: `two of its runs in a row blocked the process${at(record)}`,
    });
  }
}

async function interrupt({ runs }: Repositories, record: BlockedRecord): Promise<void> {
  for (const { run } of record.runs) await runs.finish(run, { state: 'interrupted', problem: blockedWords(record) });
}

/** Why a process was ended that gave nothing a turn. */
export function blockedWords(record: Pick<BlockedRecord, 'by' | 'seconds' | 'stack'>): {
  code: string;
  message: string;
  next: string;
} {
  const seconds = Math.round(record.seconds);
  if (record.by === 'disk') {
    return {
      code: 'DISK_STALLED',
      message: `The disk of the state folder did not answer for ${seconds} s, so the process was ended`,
      next: 'check the disk, or the server that provides it; the job runs again, and no source is to blame',
    };
  }
  return {
    code: 'RUN_BLOCKED',
    message: `The event loop was blocked for ${seconds} s while the run read its source, so the process was ended${at(record)}`,
    next: 'check the data of the source, and report the problem with the place in the code; the job runs again, last and alone',
  };
}

/** The innermost place outside of Node's own code. */
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

/** Undefined for a record that the disk had no room for. */
function readRecord(path: string): BlockedRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as BlockedRecord;
  } catch {
    return undefined;
  }
}
