import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { Store } from '../state/store.ts';

const settingName = 'daemon.config';

/** Which text of which file a daemon has in force. */
export interface ConfigNote {
  readonly file: string;
  readonly sha256: string;
}

interface Written extends ConfigNote {
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The text of a config as it stands on the disk; to be taken before it is loaded, so that no later edit is missed. */
export async function noteOf(file: string): Promise<ConfigNote> {
  const text = await readFile(file).catch(() => '');
  return { file: resolve(file), sha256: createHash('sha256').update(text).digest('hex') };
}

/** Writes down what this process has put in force, for `sluice status` in another. */
export async function keepNote(note: ConfigNote, { store, clock }: { store: Store; clock: Clock }): Promise<void> {
  const written: Written = { ...note, owner: store.processes.self, at: clock.now() };
  await store.settings.set(settingName, JSON.stringify(written));
}

/** When the daemon took this file, and whether it stands there differently now; undefined where that is not known. */
export async function readNote(
  store: Store,
  { owner, file }: { owner: string; file: string },
): Promise<{ readonly at: number; readonly differs: boolean } | undefined> {
  const text = await store.settings.find(settingName);
  const written = text === undefined ? undefined : (JSON.parse(text) as Written);
  if (written?.owner !== owner || written.file !== resolve(file)) return undefined;
  return { at: written.at, differs: (await noteOf(file)).sha256 !== written.sha256 };
}
