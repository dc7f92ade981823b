import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

/**
 * Builds the image and uses it instead of an installed package: tests run containers with the limits in compose.yaml.
 */
export default async function image({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-image-'));
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf') };
  const podman = async (...args: string[]) => (await run('podman', args, { env })).stdout.trim();
  const close = async (): Promise<void> => {
    await podman('rm', '--all', '--force').catch(() => undefined);
    await podman('image', 'umount', '--all', '--force').catch(() => undefined);
    // One path may be mounted more than once, and later mounts cover earlier ones.
    for (const mount of (await mountsBelow(folder)).toReversed()) await run('umount', ['-l', mount]);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await run(join(root, '.ci/image'), [folder, 'sluice'], { maxBuffer: 64 * 1024 * 1024 });
    provide('installed', join(await podman('image', 'mount', 'sluice'), 'app'));
    // Without connectors whose servers aren't in the image. The demo reads the database that needs no server.
    provide('nodes', [{ major: 'of the image', path: await writeProgram(folder), without: ['db', 'ftp'] }]);
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  return close;
}

/** The mount points below a folder, in mount order. */
async function mountsBelow(folder: string): Promise<string[]> {
  const lines = (await readFile('/proc/mounts', 'utf8')).split('\n');
  return lines.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${folder}/`));
}

/**
 * Where a test starts Node, starts a container instead: with the image's own `sluice.js` if requested, otherwise with
 * the image's Node and a program from this checkout, which may send messages.
 */
async function writeProgram(folder: string): Promise<string> {
  const limits = '--read-only --cap-drop=ALL --security-opt=no-new-privileges --memory=512m --user=0:0';
  // This machine's limits may be higher than a container allows.
  const files = '--ulimit=nofile=4096:4096 --ulimit=nproc=4096:4096';
  const world = `--network=host --volume=${tmpdir()}:${tmpdir()} --no-healthcheck --workdir="$here" --env=SLUICE_CONFIG --env=NO_COLOR`;
  const path = join(folder, 'node');
  await writeFile(
    path,
    `#!/bin/sh
case $PWD in ${tmpdir()}/*) here=$PWD ;; *) here=/app ;; esac
export CONTAINERS_STORAGE_CONF=${folder}/storage.conf
podman="podman --runtime=runc --cgroup-manager=cgroupfs"
case $1 in
  */sluice.js) shift ;;
  *) exec $podman run --rm --preserve-fds=1 --env=NODE_CHANNEL_FD --env=NODE_CHANNEL_SERIALIZATION_MODE \\
    --volume=${root}:${root}:ro --entrypoint=node ${limits} ${files} ${world} sluice "$@" ;;
esac
# No other container can send a signal to the daemon; the newest one that runs is its own.
[ "$*" = reload ] && exec $podman exec --latest node /app/src/cli/sluice.js reload
exec $podman run --rm ${limits} ${files} ${world} sluice "$@"
`,
  );
  await chmod(path, 0o755);
  return path;
}
