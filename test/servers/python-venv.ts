import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cached, runTool } from './fetch.ts';

/** Whether this machine can make a virtual environment. */
export function hasVenv(): boolean {
  try {
    execFileSync('python3', ['-c', 'import venv, ensurepip'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * The folder of a virtual environment with the packages that a file in `python/` lists with their hashes, and nothing
 * else: a package that needs another one only for some of its functions can be listed alone. They are fetched on first
 * use.
 */
export async function venvOf(name: string): Promise<string> {
  const requirements = new URL(`python/${name}.txt`, import.meta.url).pathname;
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  return await cached(`${name}-${hash}`, async (folder) => {
    await runTool('python3', ['-m', 'venv', '--copies', folder]);
    const flags = [
      'install',
      '--quiet',
      '--no-deps',
      '--require-hashes',
      '--only-binary',
      ':all:',
      '--requirement',
      requirements,
    ];
    await runTool(join(folder, 'bin/python3'), ['-m', 'pip', ...flags]);
  });
}
