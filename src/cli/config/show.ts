import type { Loaded } from '../../config/load.ts';
import type { ShownConfig } from '../../config/show/show-config.ts';
import { below } from '../../config/text/document.ts';
import { advised } from '../../lib/advice.ts';
import { didYouMean } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import type { Store } from '../../state/store.ts';
import { openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { jsonOutput } from '../output/json-output.ts';
import { configHead, type FoundConfig } from './head.ts';
import { yamlLines } from './yaml-lines.ts';

interface Flags {
  readonly config: string;
  readonly fileOnDisk?: true;
  readonly json?: true;
}

/** Prints the active config or a part of it. */
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

/**
 * The config that this state's daemon uses; undefined if no daemon is running or the daemon hasn't recorded its
 * config.
 */
async function activeConfigOf(file: string): Promise<FoundConfig | undefined> {
  const [{ findStateLocation }, { openExistingStore }] = await Promise.all([
    import('../state-location.ts'),
    import('../../state/open-existing-store.ts'),
  ]);
  const store = await openExistingStore(await findStateLocation(file));
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

/**
 * One part of a config, such as `jobs/orders`, together with its enclosing maps. If no part is named, the whole config.
 */
function partOf({ values, from }: ShownConfig, asked: string | undefined): ShownConfig {
  if (asked === undefined) return { values, from };
  const keys = asked.split('/').filter((key) => key !== '');
  const path = keys.reduce(below, '');
  const inside = Object.entries(from).filter(([place]) => place === path || place.startsWith(`${path}/`));
  return { values: pick(values, keys, asked), from: Object.fromEntries(inside) };
}

function pick(
  values: Readonly<Record<string, unknown>>,
  [key, ...rest]: string[],
  asked: string,
): Record<string, unknown> {
  if (key === undefined) return values;
  const value = Object.hasOwn(values, key) ? values[key] : undefined;
  if (value === undefined) throw unknownPart(key, Object.keys(values), asked);
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap && rest.length > 0) throw unknownPart(rest[0]!, [], asked);
  return { [key]: rest.length === 0 ? value : pick(value as Record<string, unknown>, rest, asked) };
}

function unknownPart(key: string, known: readonly string[], asked: string): Problem {
  return new Problem({
    code: 'CLI_UNKNOWN_PART',
    family: 'config',
    message: `Unknown part "${key}"`,
    seen: asked,
    ...(known.length === 0 ? {} : { allowed: known.join(', ') }),
    next: didYouMean(key, known),
  });
}
