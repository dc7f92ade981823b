import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Problem } from '../lib/problem.ts';
import type { Connector } from '../sdk/connector.ts';

/** All connectors by id, and what kept others from being one. */
export interface Catalogue {
  readonly connectors: ReadonlyMap<string, Connector>;
  /** One for each plugin that cannot be used; the others are not touched by it. */
  readonly problems: readonly Problem[];
}

const ownFolder = fileURLToPath(new URL('../../connectors/', import.meta.url));
const source = /(?<!\.d)\.[cm]?[jt]s$/;

/**
 * Collects the connectors: each file in `connectors/` is one (`name.ts`), and so is each folder (`name/index.ts`, or
 * `name/name.ts`); the name is the word in the config, the default export the connector. A second folder, which the config may
 * name, is added; an id that is taken already is refused there.
 */
export async function loadCatalogue(extraFolder?: string): Promise<Catalogue> {
  const connectors = new Map<string, Connector>();
  const problems: Problem[] = [];
  for (const folder of extraFolder === undefined ? [ownFolder] : [ownFolder, extraFolder]) {
    for (const { id, file } of await findPlugins(folder, problems)) {
      try {
        if (connectors.has(id)) throw new Error(`there is a connector "${id}" already; rename this one`);
        connectors.set(id, await loadPlugin(id, file));
      } catch (error) {
        problems.push(broken(id, file, error));
      }
    }
  }
  return { connectors, problems };
}

interface Plugin {
  readonly id: string;
  readonly file: string;
}

async function findPlugins(folder: string, problems: Problem[]): Promise<Plugin[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    const found = await Promise.all(
      entries.map(async (entry) => {
        if (entry.name.startsWith('.') || entry.name.startsWith('_') || entry.name === 'node_modules') return undefined;
        if (entry.isDirectory()) return findInFolder(entry.name, join(folder, entry.name));
        return source.test(entry.name)
          ? { id: entry.name.replace(source, ''), file: join(folder, entry.name) }
          : undefined;
      }),
    );
    return found.filter((plugin) => plugin !== undefined);
  } catch (error) {
    problems.push(
      new Problem({
        code: 'CONFIG_CONNECTORS_FOLDER',
        family: 'config',
        message: `The folder of connectors ${folder} cannot be read`,
        seen: (error as Error).message,
        cause: error,
      }),
    );
    return [];
  }
}

async function findInFolder(id: string, folder: string): Promise<Plugin | undefined> {
  const names = await readdir(folder);
  const file = names.find((name) => source.test(name) && ['index', id].includes(name.replace(source, '')));
  return file === undefined ? undefined : { id, file: join(folder, file) };
}

async function loadPlugin(id: string, file: string): Promise<Connector> {
  const plugin = ((await import(pathToFileURL(file).href)) as { default?: Partial<Connector> }).default;
  if (plugin === undefined || typeof plugin !== 'object')
    throw new Error('it has no default export made by defineConnector');
  if (plugin.id !== id) throw new Error(`its id is "${plugin.id}", but its file is named "${id}"`);
  for (const member of ['title', 'summary', 'source', 'query', 'check', 'extract'] as const) {
    if (plugin[member] === undefined) throw new Error(`it lacks "${member}"`);
  }
  if (plugin.source?.connector !== undefined) throw new Error('an option of a source cannot be called "connector"');
  return plugin as Connector;
}

function broken(id: string, file: string, error: unknown): Problem {
  const reason = error instanceof Error ? error.message : String(error);
  return new Problem({
    code: 'CONFIG_CONNECTOR_BROKEN',
    family: 'config',
    message: `The connector "${id}" cannot be used: ${reason.replace(/\.$/, '')}`,
    where: { file },
    next: 'Mend the file; all other connectors work without it',
    cause: error,
  });
}
