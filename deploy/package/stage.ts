import { chmod, cp, lutimes, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { checkout, nodePackage, packagesNeeded } from './packages.ts';

/** The files that an installation contains in addition to dist/ and node_modules/. */
const own = ['package.json', 'LICENSE', 'CHANGELOG.md', 'config', 'docs', 'src/cli/sluice', 'src/cli/sluice.js'];

/**
 * Copies everything that an installation needs, except Node, to a folder. Leaves out the tests and documentation of
 * other packages.
 */
export async function stageInstallation(folder: string): Promise<void> {
  for (const path of [...own, 'dist']) await copy(path, folder, (file) => file !== 'man');
  for (const name of await packagesNeeded()) await copy(`node_modules/${name}`, folder, isNeededAtRunTime(name));
  const schema = join(folder, 'config/sluice.schema.json');
  await writeFile(schema, JSON.stringify(JSON.parse(await readFile(schema, 'utf8'))));
}

/** Copies the bundled Node to the location where the `sluice` command looks for it. */
export async function stageNode(folder: string): Promise<void> {
  for (const file of ['bin/node', 'LICENSE', 'package.json']) await copy(`node_modules/${nodePackage}/${file}`, folder);
}

async function copy(path: string, folder: string, filter = (_: string): boolean => true): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  const source = join(checkout, path);
  await cp(source, join(folder, path), { recursive: true, filter: (file) => filter(relative(source, file)) });
}

const unusedFolders = new Set(['test', 'tests', 'benchmark', 'benchmarks', 'bench', 'docs', 'example', 'examples']);
const license = /^(licen[cs]e|copying|notice)/i;

/** Other variants of a module. They aren't needed, because `import` always uses the same variant. */
const duplicates: Readonly<Record<string, readonly string[]>> = {
  re2js: ['build/index.umd.js', 'build/index.cjs'],
};

/** Whether an installation needs this file or folder of a package. It needs code, data and the license. */
function isNeededAtRunTime(name: string): (file: string) => boolean {
  const unused = duplicates[name] ?? [];
  return (file) => {
    const last = basename(file);
    if (unused.includes(file) || last.startsWith('.')) return false;
    // This function is also called for folders, whose names have no extension.
    if (!last.includes('.')) return !unusedFolders.has(last);
    return license.test(last) || /\.(js|cjs|mjs|json|node|wasm)$/.test(last);
  };
}

/** Modes by path, for files and folders that don't have the default mode: 644 for files, 755 for folders. */
export type Modes = Readonly<Record<string, number>>;

/**
 * Makes a tree independent of its builder and build time: each file gets its packaged mode, and all files get the same
 * modification time.
 */
export async function normalize(folder: string, epochSeconds: number, modes: Modes): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isSymbolicLink()) {
      await chmod(path, modes[relative(folder, path)] ?? (entry.isDirectory() ? 0o755 : 0o644));
    }
    await lutimes(path, epochSeconds, epochSeconds);
  }
  await lutimes(folder, epochSeconds, epochSeconds);
}
