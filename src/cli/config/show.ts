import type { Loaded } from '../../config/load.ts';
import { advised } from '../../lib/advice.ts';
import { redact } from '../../lib/redact.ts';
import type { Store } from '../../state/store.ts';
import { openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { jsonOutput } from '../json-output.ts';
import { configHead, type FoundConfig } from './head.ts';
import { partOf } from './part-of.ts';
import { yamlLines } from './yaml-lines.ts';

interface Flags {
  readonly config: string;
  readonly fileOnDisk?: true;
  readonly json?: true;
}

/** Prints the active config or one part of it. */
export async function showActiveConfig(part: string | undefined, flags: Flags): Promise<void> {
  const inForce = flags.fileOnDisk === true ? undefined : await activeConfigOf(flags.config);
  const found = inForce ?? (await onDisk(flags.config));
  const { values, from, ...head } = found;
  const shown = partOf({ values, from }, part);
  const text =
    flags.json === true
      ? jsonOutput({ ...head, ...shown })
      : [advised(configHead(found, { asked: flags.fileOnDisk === true })), '', ...yamlLines(shown)].join('\n');
  process.stdout.write(`${redact(text)}\n`);
}

/** The config that this state folder's daemon uses; undefined if none is running or it hasn't recorded its config. */
async function activeConfigOf(file: string): Promise<FoundConfig | undefined> {
  const [{ findStateFolder }, { openExistingStore }] = await Promise.all([
    import('../state-folder.ts'),
    import('../open-existing-store.ts'),
  ]);
  const store = await openExistingStore({ state: await findStateFolder(file) });
  try {
    return store === undefined ? undefined : await readActiveConfig(store);
  } finally {
    await store?.close();
  }
}

async function readActiveConfig(store: Store): Promise<FoundConfig | undefined> {
  const holder = await store.leases.holder('daemon');
  if (holder === undefined) return undefined;
  const [{ readRecord, readShownConfig }, { processText }] = await Promise.all([
    import('../../daemon/config/config-record.ts'),
    import('../../state/processes/processes.ts'),
  ]);
  const note = await readRecord(store, holder.owner);
  const shown = await readShownConfig(store, holder.owner);
  if (note === undefined || shown === undefined) return undefined;
  const { file, sha256, ...taken } = note;
  return { daemon: processText(holder.owner), file, sha256, taken, ...shown };
}

async function onDisk(file: string): Promise<FoundConfig> {
  const [{ recordOf }, { showConfig }] = await Promise.all([
    import('../../daemon/config/config-record.ts'),
    import('../../config/show/show-config.ts'),
  ]);
  const note = await recordOf(file);
  const loaded: Loaded & { config: NonNullable<Loaded['config']> } = await openConfig(file);
  showProblems(loaded.problems);
  if (loaded.problems.length > 0) process.exitCode = exit.usage;
  const shown = showConfig(loaded.config, loaded.made!);
  return { ...note, ...shown, ...(loaded.refused.size === 0 ? {} : { left_out: [...loaded.refused.keys()] }) };
}
