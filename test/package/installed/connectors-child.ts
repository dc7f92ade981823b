import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Connector } from '../../../src/sdk/connector.ts';
import type { Kit, World } from '../../../src/sdk/testing/index.ts';

/**
 * Runs in the Node under test. Runs every connector of the installed package (first argument) in the worlds of the
 * conformance tests: the package's own suite checks `check` and the rows of an extract. Sends one message per world.
 */
export interface WorldLook {
  readonly id: string;
  readonly world: string;
  /** What failed, if anything. */
  readonly error?: string;
}

/** The checks that open a connection and read. The others are about options and limits, which packing can't change. */
const wanted = [
  'reports the result of a check in a sentence',
  'returns the declared columns and all rows',
  'always reports that its service is discontinued',
];

const dist = join(process.argv[2]!, 'dist');
const only = process.argv.slice(3);
const worlds = new URL('../../conformance/connectors/', import.meta.url);

type MakeKit = (connector: Connector, world?: World) => Kit;
const load = async <T>(file: string): Promise<T> => (await import(pathToFileURL(file).href)) as T;

// The worlds' servers don't keep a process alive.
const alive = setInterval(() => undefined, 60_000);
const { connectorKit } = await load<{ connectorKit: MakeKit }>(join(dist, 'src/sdk/testing/index.js'));
for (const [id, file] of await connectorsIn(join(dist, 'connectors'))) {
  if (only.length > 0 && !only.includes(id)) continue;
  const { default: connector } = createRequire(file)(file) as { default: Connector };
  for (const world of await worldsOf(connector)) {
    const look = { id, world: world?.name ?? id };
    process.send?.(
      await lookAt(connector, world).then(
        () => look,
        (error: Error) => ({ ...look, error: error.stack }),
      ),
    );
  }
}
clearInterval(alive);
process.disconnect?.();

async function lookAt(connector: Connector, world: World | undefined): Promise<void> {
  const { checks, close } = connectorKit(connector, world);
  const looks = checks.filter(({ name }) => wanted.some((part) => name.startsWith(part)));
  try {
    if (looks.length === 0) throw new Error("the package's suite has none of the checks that this test needs");
    for (const { run } of looks) await run();
  } finally {
    await close();
  }
}

/** A file, or a folder with an index, is a connector. */
async function connectorsIn(folder: string): Promise<[id: string, file: string][]> {
  const found: [string, string][] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = entry.isDirectory() ? join(folder, entry.name, 'index.js') : join(folder, entry.name);
    const id = basename(entry.name, '.js');
    if (/^[a-z]/.test(id) && file.endsWith('.js') && existsSync(file)) found.push([id, file]);
  }
  return found;
}

async function worldsOf({ id, retired }: Connector): Promise<readonly (World | undefined)[]> {
  if (retired !== undefined) return [undefined];
  const { default: found } = (await import(new URL(`${id}.ts`, worlds).href)) as { default: World | readonly World[] };
  return [found].flat();
}
