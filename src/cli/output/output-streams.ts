import { exit } from '../exit.ts';

/** Commands whose exit code shows whether data was delivered, even if their output couldn't be written. */
const deliveries = new Set(['sync', 'run', 'backfill']);

/**
 * Keeps the process running if its output can't be written, for example because the disk is full, the terminal was
 * closed, or the reading process exited. Messages and progress are lost, but data is still delivered. On exit, the
 * process reports the lost output on standard error, and a command that only prints results fails. A closed pipe
 * (`sluice status | head`) isn't an error.
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
