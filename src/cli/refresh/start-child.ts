import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const isBuilt = import.meta.url.endsWith('.js');
const entry = fileURLToPath(new URL(`./child.${isBuilt ? 'js' : 'ts'}`, import.meta.url));
/** The folder that holds `src` and `connectors`, built or not. */
const root = fileURLToPath(new URL('../../../', import.meta.url));

const heapMb = 384;

/** Node before 25 does not restrict the network of such a process. The address policy does, on every version: guard-sockets.ts. */
const netFlag = process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : [];

/**
 * A process that may read our code and its one folder, write to that folder, and use the network; nothing else of the
 * disk, no other program, no environment of ours.
 */
export function startChild(scratch: string): ChildProcess {
  const readable = [...['src', 'connectors', 'chunks', 'package.json'].map((name) => join(root, name)), ...packages()];
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
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
  });
}

/** The zone and the authorities that this machine trusts; whatever else stands there is no business of a data source. */
function environment(): NodeJS.ProcessEnv {
  const wanted = ['NODE_EXTRA_CA_CERTS', 'TZ'].filter((name) => process.env[name] !== undefined);
  return Object.fromEntries(wanted.map((name) => [name, process.env[name]]));
}

/** Packages lie beside us or, where we are a package ourselves, around us. */
function packages(): string[] {
  const found: string[] = [];
  for (let folder = dirname(join(root, 'x')); ; folder = dirname(folder)) {
    found.push(...withTarget(join(folder, 'node_modules')));
    if (folder === dirname(folder)) return found;
  }
}

/** The folder, and where it really is: a link to it is followed before the permission is looked at. */
function withTarget(folder: string): string[] {
  if (!existsSync(folder)) return [folder];
  const real = realpathSync(folder);
  return real === folder ? [folder] : [folder, real];
}
