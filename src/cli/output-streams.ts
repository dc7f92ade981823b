import { exit } from './exit.ts';

/** Commands whose exit code speaks of the data that they deliver: what they print is beside the point. */
const deliveries = new Set(['sync', 'run', 'backfill']);

/**
 * Lets the process go on when its output cannot be written: a full disk, a terminal or reader that went away. Messages and progress
 * are lost, data is delivered all the same. At the end, lost results are told on standard error, and a command that did
 * nothing but print them has failed. A reader that has seen enough (`sluice status | head`) is no error.
 */
export function tolerateLostOutput(command: string | undefined): void {
  let lost: NodeJS.ErrnoException | undefined;
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') lost ??= error;
  });
  process.on('exit', () => {
    if (lost === undefined) return;
    process.stderr.write(`Cannot write the output: ${lost.message}\n`);
    if (!deliveries.has(command ?? '')) process.exitCode ||= exit.failed;
  });
}
