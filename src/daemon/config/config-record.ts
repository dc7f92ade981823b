import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Loaded } from '../../config/load.ts';
import { type ShownConfig, showConfig } from '../../config/show/show-config.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Problem, placeOf } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import type { Store } from '../../state/store.ts';

const deflate = promisify(zlib.deflate);
const inflate = promisify(zlib.inflate);

// Names of the process's settings.
const takenName = 'config';
const refusedName = 'config.refused';
const shownName = 'config.shown';

/** The file that a daemon's active config was read from, and the hash of the file's text. */
export interface ConfigRecord {
  readonly file: string;
  readonly sha256: string;
}

/** The fields of an error that tell the user what to fix. */
export interface RecordedFault {
  readonly code: string;
  readonly place: string;
  readonly message: string;
  readonly next?: string;
}

/** A rejected config, and the reason why it was rejected. `at` is in epoch milliseconds. */
export interface RejectedConfig extends ConfigRecord {
  readonly at: number;
  readonly faults: readonly RecordedFault[];
}

/** A job that was excluded when a daemon started. */
export interface LeftOutJob {
  readonly job: string;
  readonly faults: readonly RecordedFault[];
}

/** A daemon's active config. */
export interface ActiveRecord {
  readonly file: string;
  readonly sha256: string;
  /** The time when the config became active, in epoch milliseconds. */
  readonly at: number;
  /** Whether the file has changed since the config became active. */
  readonly differs: boolean;
  /** Errors that excluded parts of the config at startup. A reload is all or nothing, so it leaves no such errors. */
  readonly faults: readonly RecordedFault[];
  /** The excluded jobs, each with its errors. */
  readonly leftOut: readonly LeftOutJob[];
  readonly refused?: RejectedConfig;
}

type RecordContext = { readonly store: Store; readonly clock: Clock };

/** Reads a config's text from disk. Call this before loading the config, so that no later edit is missed. */
export async function recordOf(file: string): Promise<ConfigRecord> {
  const text = await readFile(file).catch(() => '');
  return { file: resolve(file), sha256: createHash('sha256').update(text).digest('hex') };
}

/**
 * The prepared record of a config that is about to become active. Its memory use doesn't depend on the config's size.
 */
export interface PreparedRecord extends ConfigRecord {
  readonly faults: readonly RecordedFault[];
  readonly leftOut: readonly LeftOutJob[];
  readonly shown: string;
}

/** Prepares the record that {@link saveRecord} stores: the complete effective config, without secrets. */
export async function prepareRecord(
  note: ConfigRecord,
  { config, made, problems, refused }: Loaded,
): Promise<PreparedRecord> {
  const shown = config === undefined || made === undefined ? { values: {}, from: {} } : showConfig(config, made);
  const packed = await deflate(redact(JSON.stringify(shown)));
  const leftOut = [...refused].map(([job, faults]) => ({ job, faults: faults.map(recordedFault) }));
  return { ...note, faults: problems.map(recordedFault), leftOut, shown: packed.toString('base64') };
}

/**
 * Records this process's active config, so that commands in other processes can read it. If the state can't be written
 * now, such as because another process holds its lock, records the config later.
 */
export async function saveRecord({ shown, ...note }: PreparedRecord, { store, clock }: RecordContext): Promise<void> {
  const taken: Omit<ActiveRecord, 'differs'> = { ...note, at: clock.now() };
  await store.settle('config', async ({ processSettings }) => {
    await processSettings.set(takenName, redact(JSON.stringify(taken)));
    await processSettings.set(shownName, shown);
  });
}

/** Records that this process rejected a config. */
export async function saveRejection(
  note: ConfigRecord,
  { store, clock }: RecordContext,
  problems: readonly Problem[],
): Promise<void> {
  const refusal: RejectedConfig = { ...note, at: clock.now(), faults: problems.map(recordedFault) };
  await store.processSettings.set(refusedName, redact(JSON.stringify(refusal)));
}

/** A config error in its stored form. */
export function recordedFault({ code, message, where, next }: Problem): RecordedFault {
  return { code, place: placeOf(where), message, next };
}

/** Returns the active config of the daemon `owner`; undefined if it's unknown. */
export async function readRecord(store: Store, owner: string): Promise<ActiveRecord | undefined> {
  const text = await store.processSettings.find(takenName, owner);
  if (text === undefined) return undefined;
  const taken = JSON.parse(text) as Omit<ActiveRecord, 'differs'>;
  const refusal = await store.processSettings.find(refusedName, owner);
  const refused = refusal === undefined ? undefined : (JSON.parse(refusal) as RejectedConfig);
  return {
    ...taken,
    differs: (await recordOf(taken.file)).sha256 !== taken.sha256,
    ...(refused === undefined || refused.at < taken.at ? {} : { refused }),
  };
}

/** Returns the complete effective config of the daemon `owner`. */
export async function readShownConfig(store: Store, owner: string): Promise<ShownConfig | undefined> {
  const packed = await store.processSettings.find(shownName, owner);
  if (packed === undefined) return undefined;
  const text = await inflate(Buffer.from(packed, 'base64'));
  return JSON.parse(text.toString('utf8')) as ShownConfig;
}

/** Returns the SHA-256 of the config file of each live process that has recorded its config. */
export async function readConfigHashes(store: Store): Promise<ReadonlyMap<string, string>> {
  const records = await store.processSettings.all(takenName);
  return new Map(records.map(({ owner, value }) => [owner, (JSON.parse(value) as ConfigRecord).sha256]));
}
