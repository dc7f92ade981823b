import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** The name of the Debian package that contains each program. */
const packages: Readonly<Record<string, string>> = {
  'dpkg-deb': 'dpkg',
  git: 'git',
  ldd: 'libc-bin',
  rpmbuild: 'rpm',
  sha256sum: 'coreutils',
  tar: 'tar',
};

/** The error for a program that isn't installed. Its message says how to install the program. */
export class MissingTool extends Error {}

/** Runs a program and returns its output. */
export async function run(program: string, args: readonly string[], { cwd, env }: RunOptions = {}): Promise<string> {
  try {
    const options = { cwd, env: { ...process.env, LC_ALL: 'C', ...env }, maxBuffer: 64 * 1024 * 1024 };
    return (await execute(program, args, options)).stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new MissingTool(`${program} is not installed (on Debian: apt-get install ${packages[program]})`, {
      cause: error,
    });
  }
}

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/** A temporary folder that is removed at the end of the block that uses it. */
export async function makeFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'sluice-package-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
