import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * npm as users run it: with their own registry and cache settings, but no install scripts and no development
 * dependencies.
 */
export async function npm(args: readonly string[], cwd?: string): Promise<string> {
  const quiet = ['--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--no-update-notifier'];
  const { stdout } = await run('npm', [...args, ...quiet], {
    maxBuffer: 64 * 1024 * 1024,
    ...(cwd === undefined ? {} : { cwd }),
  });
  return stdout;
}
