import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environmentWith } from '../../lib/environment-with.ts';

const isBuilt = import.meta.url.endsWith('.js');
/** Path of the file that the child process runs. */
const ownEntry = fileURLToPath(new URL(`./child.${isBuilt ? 'js' : 'ts'}`, import.meta.url));

const heapMb = 384;

/**
 * Node versions before 25 can't restrict a process's network access. The address policy in guard-sockets.ts works in
 * every version.
 */
const netFlag = process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : [];

/**
 * Starts a process that can read Sluice's code, use its own folder and use the network. The process can't access other
 * files, start programs or see Sluice's environment variables.
 */
export function startChild(scratch: string, entry = ownEntry): ChildProcess {
  // The folder that contains `src` and `connectors`, built or not.
  const root = resolve(entry, '../../../..');
  const readable = [
    ...['src', 'connectors', 'chunks', 'package.json', 'build.json'].map((name) => join(root, name)),
    ...packagesFor(root),
  ];
  const flags = [
    '--permission',
    ...netFlag,
    ...[...readable, scratch].map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${scratch}`,
    `--max-old-space-size=${heapMb}`,
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
  ];
  return spawn(process.execPath, [...flags, entry], {
    cwd: scratch,
    env: environmentWith('NODE_EXTRA_CA_CERTS', 'TZ'),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
  });
}

/** Packages are next to Sluice's code or, if Sluice is itself an installed package, in a parent folder. */
function packagesFor(root: string): string[] {
  const found: string[] = [];
  for (let folder = root; ; folder = dirname(folder)) {
    found.push(...withTarget(join(folder, 'node_modules')));
    if (folder === dirname(folder)) return found;
  }
}

/** Returns the folder's path and its real path, because Node resolves links before it checks permissions. */
function withTarget(folder: string): string[] {
  if (!existsSync(folder)) return [folder];
  const real = realpathSync(folder);
  return real === folder ? [folder] : [folder, real];
}
