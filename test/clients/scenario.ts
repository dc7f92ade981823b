import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { bench, keys } from '../service/service.ts';

const run = promisify(execFile);
/** Ends a program that waits forever. A busy machine needs much less. */
const timeout = 120_000;

/** A program that uses a generated client. */
export interface ClientProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
}

/**
 * Runs a program against a new service. Each program does the same: it creates a data source of each format, uploads a
 * document and reads it back, pages through the list, places a Klip on a dashboard, and reads a typed error. Fails with
 * the program's output.
 */
export async function runScenario({ command, args, cwd }: ClientProgram): Promise<void> {
  const given = await bench();
  const env = { ...process.env, BASE_URL: given.service.url, API_KEY: keys.acmeAdmin };
  await run(command, args, { cwd, env, timeout }).catch((failure: { stdout?: string; stderr?: string }) => {
    throw new Error(`${command} failed: ${failure.stdout}${failure.stderr}`, { cause: failure });
  });
}
