import { execFile, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../journey/process.ts';

const run = promisify(execFile);
const checkout = resolve(import.meta.dirname, '../..');
const tools = ['debootstrap', 'systemd-nspawn', 'nsenter'];

/** Why this machine can't boot another one; undefined if it can. */
export function noMachine(): string | undefined {
  if (process.getuid!() !== 0) return 'it needs the rights of root';
  const missing = tools.filter((tool) => !isInstalled(tool));
  return missing.length === 0
    ? undefined
    : `missing: ${missing.join(', ')} (apt-get install debootstrap systemd-container)`;
}

/** Whether a program is on the PATH. */
export const isInstalled = (tool: string): boolean =>
  (process.env.PATH ?? '').split(':').some((folder) => isIn(folder, tool));

function isIn(folder: string, tool: string): boolean {
  try {
    execFileSync('test', ['-x', join(folder, tool)]);
    return true;
  } catch {
    return false;
  }
}

/** The result of a command in the machine. */
export interface Said {
  readonly code: number;
  /** Standard output and error. */
  readonly text: string;
}

/** A Debian with systemd as its first process; it shares this machine's network. */
export interface Machine {
  /** Its root folder, as seen from here. */
  readonly root: string;
  /** Runs a shell command in it, as root. */
  run(line: string): Promise<Said>;
  close(): Promise<void>;
}

/** Installs the output of `npm pack` where npm installs commands. */
export async function installPacked(root: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-packed-'));
  try {
    await run('npm', ['pack', '--pack-destination', folder], { cwd: checkout, maxBuffer: 64 * 1024 * 1024 });
    const [tarball] = await readdir(folder);
    const flags = ['--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund'];
    await run('npm', ['install', '--global', '--prefix', join(root, 'usr/local'), ...flags, join(folder, tarball!)]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Creates the root with debootstrap and additional Debian packages, lets the caller add files, and boots it. */
export async function bootMachine(
  prepare: (root: string) => Promise<void>,
  more: readonly string[] = [],
): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-systemd-'));
  const root = join(folder, 'root');
  const close = async (): Promise<void> => {
    await run('umount', ['-l', join(root, 'proc')]).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const packages = ['systemd', 'systemd-sysv', 'dbus', ...more];
    await run('debootstrap', ['--variant=minbase', `--include=${packages}`, 'bookworm', root], {
      maxBuffer: 64 * 1024 * 1024,
    });
    await prepare(root);
    return await boot(root, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function boot(root: string, remove: () => Promise<void>): Promise<Machine> {
  const nspawn = spawn('systemd-nspawn', ['--directory', root, '--boot', '--register=no', '--keep-unit'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let console = '';
  for (const stream of [nspawn.stdout, nspawn.stderr])
    stream.setEncoding('utf8').on('data', (text) => (console += text));
  const ended = new Promise((done) => nspawn.on('exit', done));
  const inside = (line: string): Promise<Said> => {
    const enter = ['--target', String(leaderOf(nspawn.pid!)), '--all', 'sh', '-c', line];
    return run('nsenter', enter, {
      maxBuffer: 64 * 1024 * 1024,
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    }).then(
      ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
      ({ code, stdout, stderr }) => ({ code: Number(code), text: `${stdout}${stderr}` }),
    );
  };
  const close = async (): Promise<void> => {
    nspawn.kill('SIGTERM');
    const late = setTimeout(() => nspawn.kill('SIGKILL'), 20_000);
    await ended;
    clearTimeout(late);
    await remove();
  };
  try {
    await until('systemd to boot', async () => {
      if (nspawn.exitCode !== null) throw new Error(`systemd-nspawn ended: ${console}`);
      return /running|degraded/.test((await inside('systemctl is-system-running')).text);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { root, run: inside, close };
}

/** The machine's first process, by its PID on this machine. If it's gone, nspawn's own process has ended. */
function leaderOf(nspawn: number): number {
  return Number(readFileSync(`/proc/${nspawn}/task/${nspawn}/children`, 'utf8').trim().split(' ').at(-1));
}
