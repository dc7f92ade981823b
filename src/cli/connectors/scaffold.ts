import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { openCatalog } from '../../config/catalog/catalog.ts';
import { commandLine } from '../../lib/command-line.ts';
import { Problem } from '../../lib/problem.ts';
import { shipped } from '../config/shipped-files.ts';

/** The template's files with their descriptions, in the order in which they are listed. */
const files = {
  'acme.mts': 'the connector',
  'acme.world.mts': 'the environment for its tests',
  'acme.test.mts': 'a test file for a test runner',
  'acme.md': 'the next steps',
};

/** Writes a working connector and its test world. Doesn't write any files if one of them already exists. */
export async function scaffoldConnector(id: string, { into }: { into: string }): Promise<void> {
  await refuseName(id);
  const folder = resolve(into);
  const written = Object.entries(files).map(([name, what]) => ({
    template: name,
    path: join(folder, name.replace('acme', id)),
    what,
  }));
  const taken = written.find(({ path }) => existsSync(path));
  if (taken !== undefined) throw existing(taken.path);
  for (const { template, path } of written) {
    await write(path, renamed(await shipped(join('scaffold', template)), { id, folder: into }));
  }
  const shown = written.map(({ path, what }) => ({ path: relative('', path), what }));
  const width = Math.max(...shown.map(({ path }) => path.length));
  process.stdout.write(`Wrote ${shown.map(({ path, what }) => `${path.padEnd(width)}  ${what}`).join('\n      ')}

Next:
  ${commandLine('sluice', 'connectors', 'test', shown[0]!.path)}
  put "connectors: ${into}" into your config, and "connector: ${id}" into a source
`);
}

async function write(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: 'wx' });
  } catch (thrown) {
    const error = thrown as NodeJS.ErrnoException;
    throw error.code === 'EEXIST' ? existing(path) : unwritable(path, error);
  }
}

/** Replaces the template's name in all its forms. */
function renamed(text: string, { id, folder }: { id: string; folder: string }): string {
  const words = id.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const forms: Readonly<Record<string, string>> = {
    'class Acme': `class ${words.join('')}`,
    'new Acme(': `new ${words.join('')}(`,
    'acme.example.com': `${id.replaceAll('_', '-')}.example.com`,
    ACME: id.toUpperCase(),
    Acme: words.join(' '),
    acme: id,
    './FOLDER': folder,
  };
  return text.replace(/class Acme|new Acme\(|acme\.example\.com|ACME|Acme|acme|\.\/FOLDER/g, (word) => forms[word]!);
}

async function refuseName(id: string): Promise<void> {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(id)) {
    throw new Problem({
      code: 'CONNECTOR_NAME',
      family: 'config',
      message: `"${id}" is not a valid connector name`,
      allowed: 'lowercase letters, digits and underscores between words, starting with a letter',
    });
  }
  if ((await openCatalog()).ids.includes(id)) {
    throw new Problem({
      code: 'CONNECTOR_NAME',
      family: 'config',
      message: `The name "${id}" is taken by a built-in connector`,
      next: 'choose another name',
    });
  }
}

function existing(path: string): Problem {
  return new Problem({
    code: 'CONNECTOR_EXISTS',
    family: 'config',
    message: `${path} already exists; nothing was written`,
    next: 'choose another name, or another folder with --into',
  });
}

function unwritable(path: string, error: Error): Problem {
  return new Problem({
    code: 'CONNECTOR_UNWRITABLE',
    family: 'config',
    message: `${path} cannot be written`,
    seen: error.message,
    next: 'choose a writable folder with --into',
    cause: error,
  });
}
