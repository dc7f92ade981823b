import { exit } from './exit.ts';

/** Commands whose exit code is about the delivered data, even if their output is lost. */
const deliveries = new Set(['sync', 'run', 'backfill']);

/**
 * Keeps the process running if its output can't be written, because the disk is full, or the terminal or reader is
 * gone. Messages and progress are lost, but data is still delivered. At the end, lost output is reported on standard
 * error, and a command that only prints results fails. A closed pipe (`sluice status | head`) isn't an error.
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
