import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

/** Builds the image and stands it in the place of an installed package: what runs is a container with the limits of compose.yaml. */
export default async function image({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-image-'));
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf') };
  const podman = async (...args: string[]) => (await run('podman', args, { env })).stdout.trim();
  const close = async (): Promise<void> => {
    await podman('rm', '--all', '--force').catch(() => undefined);
    await podman('image', 'umount', '--all', '--force').catch(() => undefined);
    await run('umount', ['-l', join(folder, 'graph/overlay')]).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await run(join(root, '.ci/image'), [folder, 'sluice'], { maxBuffer: 64 * 1024 * 1024 });
    provide('installed', join(await podman('image', 'mount', 'sluice'), 'app'));
    provide('nodes', [{ major: 'of the image', path: await writeProgram(folder) }]);
  } catch (error) {
    await close();
    throw error;
  }
  return close;
}

/** Starts a container where a test starts Node; the first argument, `sluice.js`, is the image's own. */
async function writeProgram(folder: string): Promise<string> {
  const limits = '--read-only --cap-drop=ALL --security-opt=no-new-privileges --memory=512m --user=0:0';
  // Those of this machine may be higher than a container may have.
  const files = '--ulimit=nofile=4096:4096 --ulimit=nproc=4096:4096';
  const world = `--network=host --volume=${tmpdir()}:${tmpdir()} --no-healthcheck --workdir="$here" --env=SLUICE_CONFIG --env=NO_COLOR`;
  const path = join(folder, 'node');
  await writeFile(
    path,
    `#!/bin/sh
shift
case $PWD in ${tmpdir()}/*) here=$PWD ;; *) here=/app ;; esac
export CONTAINERS_STORAGE_CONF=${folder}/storage.conf
exec podman --runtime=runc --cgroup-manager=cgroupfs run --rm ${limits} ${files} ${world} sluice "$@"
`,
  );
  await chmod(path, 0o755);
  return path;
}
