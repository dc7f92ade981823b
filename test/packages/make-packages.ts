import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const checkout = resolve(import.meta.dirname, '../..');

/** Runs `npm run package` for a folder. */
export async function makePackages(into: string): Promise<void> {
  await run('npm', ['run', 'package', '--', '--into', into], { cwd: checkout, maxBuffer: 64 * 1024 * 1024 });
}
