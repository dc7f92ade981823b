import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cached, runTool } from './fetch.ts';
import { findProgram } from './server.ts';

export const hasNpm = (): boolean => findProgram('npm') !== undefined;

/**
 * The folder of a project with the packages that `npm/NAME-lock.json` lists with their hashes, and with these files.
 * The packages are fetched on first use.
 */
export async function npmProject(name: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const lock = readFileSync(new URL(`npm/${name}-lock.json`, import.meta.url), 'utf8');
  const hash = createHash('sha256')
    .update([lock, ...Object.values(files)].join(''))
    .digest('hex')
    .slice(0, 16);
  return await cached(`${name}-${hash}`, async (folder) => {
    const { packages } = JSON.parse(lock) as { packages: Record<string, { dependencies?: object }> };
    const all = {
      ...files,
      'package.json': JSON.stringify({ private: true, ...packages[''] }),
      'package-lock.json': lock,
    };
    for (const [path, text] of Object.entries(all)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    await runTool('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder]);
  });
}
