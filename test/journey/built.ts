import { execFile } from 'node:child_process';
import { cp, glob, mkdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The `sluice.js` of the package built from this checkout. */
    readonly door: string;
  }
}

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const built = join(root, 'node_modules/.cache/built');
const sources = ['src/**/*', 'connectors/**/*', 'deploy/build/*', 'package.json', 'package-lock.json'];

/** Builds the package once for all test files, unless the package of an earlier run is newer than all sources. */
export default async function build({ provide }: TestProject): Promise<void> {
  if ((await writtenAt(join(built, 'dist/build.json'))) < (await newest())) await make();
  provide('door', join(built, 'src/cli/sluice.js'));
}

/** Built next to its final path and then moved there, so that no process ever sees an incomplete package. */
async function make(): Promise<void> {
  const fresh = `${built}.${process.pid}`;
  await mkdir(join(fresh, 'src/cli'), { recursive: true });
  for (const file of ['src/cli/sluice', 'src/cli/sluice.js', 'package.json'])
    await cp(join(root, file), join(fresh, file));
  for (const folder of ['config', 'docs']) await symlink(join(root, folder), join(fresh, folder));
  await run(process.execPath, [join(root, 'deploy/build/bundle.ts'), join(fresh, 'dist')]);
  await rm(built, { recursive: true, force: true });
  await rename(fresh, built);
}

async function newest(): Promise<number> {
  let at = 0;
  for await (const file of glob(sources, { cwd: root })) at = Math.max(at, await writtenAt(join(root, file)));
  return at;
}

/** Epoch milliseconds; 0 if the file doesn't exist. */
async function writtenAt(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
}
