import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { installNodes, type TestedNode } from './nodes.ts';
import { npm } from './npm.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    readonly nodes: readonly TestedNode[];
    /** The folder of the installed package. */
    readonly installed: string;
    /** The output of `npm pack`. */
    readonly tarball: string;
    /** The tarball of another build, in which a lazily imported file differs. */
    readonly otherTarball: string;
  }
}

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');

/** Packs this checkout and installs the result, once for all files in the suite. */
export default async function install({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-package-'));
  try {
    const tarball = await pack(root, join(folder, 'packed'));
    const [nodes, otherTarball] = await Promise.all([
      installNodes(join(folder, 'nodes'), root),
      packOther(folder),
      installIn(join(folder, 'empty'), tarball),
    ]);
    provide('nodes', nodes);
    provide('tarball', tarball);
    provide('otherTarball', otherTarball);
    provide('installed', join(folder, 'empty/node_modules/sluice'));
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
  return () => rm(folder, { recursive: true });
}

/** Builds with `prepack`, as for a maintainer who runs only `npm pack`. */
async function pack(checkout: string, into: string): Promise<string> {
  await mkdir(into, { recursive: true });
  await rm(join(checkout, 'dist'), { recursive: true, force: true });
  await run('npm', ['pack', '--pack-destination', into], { cwd: checkout });
  const [tarball] = (await readdir(into)).filter((name) => name.endsWith('.tgz'));
  return join(into, tarball!);
}

async function installIn(folder: string, tarball: string): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{}');
  await npm(['install', tarball], folder);
}

/**
 * Another build from the same sources, except for one lazily imported module whose chunk therefore has another name.
 */
async function packOther(folder: string): Promise<string> {
  const checkout = join(folder, 'other');
  const wanted = [
    '.ci',
    'src',
    'connectors',
    'deploy',
    'docs',
    'config',
    'package.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
  ];
  for (const name of [...wanted, 'tsconfig.json']) {
    await cp(join(root, name), join(checkout, name), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const late = join(checkout, 'src/sdk/records/csv-reader.ts');
  await writeFile(late, "console.error('read by another build');\n", { flag: 'a' });
  return pack(checkout, join(folder, 'packed-other'));
}
