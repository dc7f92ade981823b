import { readdir, readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { commandLine } from '../../lib/command-line.ts';
import { Problem } from '../../lib/problem.ts';

/** A connector that was found but hasn't been imported. */
export interface Plugin {
  /** The value for `connector` in a config. */
  readonly id: string;
  /** Absolute path. */
  readonly file: string;
  /** The folder or package that contains the connector. */
  readonly origin: string;
}

/** The connectors in a folder or package, and errors about the folder or package itself. */
interface Found {
  readonly plugins: readonly Plugin[];
  readonly problems: readonly Problem[];
}

/** `acme.ts` is a connector; `acme.test.ts`, `acme.world.ts` and `acme.d.ts` are its companion files. */
const source = /^([\w-]+)\.[cm]?[jt]s$/;

/**
 * Finds the connectors in a folder: each file `name.ts`, and each subfolder with `name/index.ts` or `name/name.ts`.
 * Ignores names that start with a dot or an underscore. Doesn't import the connectors.
 */
export async function findInFolder(folder: string): Promise<Found> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    const plugins = await Promise.all(
      entries.map(async (entry): Promise<Plugin | undefined> => {
        if (/^[._]/.test(entry.name) || entry.name === 'node_modules') return undefined;
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return findInside(path, { id: entry.name, origin: folder });
        const id = source.exec(entry.name)?.[1];
        return id === undefined ? undefined : { id, file: path, origin: folder };
      }),
    );
    return { plugins: plugins.filter((plugin) => plugin !== undefined), problems: [] };
  } catch (error) {
    const problem = new Problem({
      code: 'CONFIG_CONNECTORS_FOLDER',
      family: 'config',
      message: `Cannot read the connector folder ${folder}`,
      seen: (error as Error).message,
      cause: error,
    });
    return { plugins: [], problems: [problem] };
  }
}

async function findInside(folder: string, known: { id: string; origin: string }): Promise<Plugin | undefined> {
  const names = await readdir(folder);
  const file = names.find((name) => ['index', known.id].includes(source.exec(name)?.[1] ?? ''));
  return file === undefined ? undefined : { ...known, file: join(folder, file) };
}

/**
 * Finds the connectors in an npm package that can be resolved from `from`. The package's package.json lists them as
 * `"sluice": {"connectors": {"acme": "./acme.js"}}`, so that Sluice imports a connector only when a config uses it.
 */
export async function findInPackage(name: string, from: string): Promise<Found> {
  try {
    const manifest = findPackageJSON(name, pathToFileURL(join(from, 'sluice.yaml')).href);
    if (manifest === undefined) throw new Error('it has no package.json');
    const listed = listedIn(JSON.parse(await readFile(manifest, 'utf8')));
    const plugins = listed.map(([id, file]) => ({ id, file: resolve(dirname(manifest), file), origin: name }));
    return { plugins, problems: [] };
  } catch (error) {
    return { plugins: [], problems: [badPackage(name, { from, error: error as NodeJS.ErrnoException })] };
  }
}

function listedIn(manifest: { sluice?: { connectors?: unknown } }): [string, string][] {
  const listed = Object.entries(manifest.sluice?.connectors ?? {});
  const isRight = ([id, file]: [string, unknown]) => /^[\w-]+$/.test(id) && typeof file === 'string';
  if (listed.length === 0 || !listed.every(isRight)) {
    throw new Error('its package.json does not list them as "sluice": {"connectors": {"NAME": "./FILE.js"}}');
  }
  return listed as [string, string][];
}

function badPackage(name: string, { from, error }: { from: string; error: NodeJS.ErrnoException }): Problem {
  const isAbsent = error.code === 'ERR_MODULE_NOT_FOUND';
  return new Problem({
    code: 'CONFIG_CONNECTOR_PACKAGE',
    family: 'config',
    message: isAbsent
      ? `The connector package "${name}" is not installed in the config's folder or above it`
      : `The package "${name}" provides no connectors: ${error.message}`,
    seen: from,
    next: isAbsent
      ? `run in the config's folder: ${commandLine('npm', 'install', name)}`
      : "contact the package's author, or remove the package",
    cause: error,
  });
}
