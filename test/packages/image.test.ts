import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { forSuite } from '../journey/process.ts';
import { makePackages } from './make-packages.ts';

const run = promisify(execFile);

/** Why this machine can't run containers; undefined if it can. */
async function noContainers(): Promise<string | undefined> {
  if (process.getuid!() !== 0) return 'it needs the rights of root';
  const versions = ['podman', 'runc'].map((tool) =>
    run(tool, ['--version']).then(
      () => [],
      () => [tool],
    ),
  );
  const missing = (await Promise.all(versions)).flat();
  return missing.length === 0 ? undefined : `missing: ${missing.join(', ')} (apt-get install ${missing.join(' ')})`;
}

const missing = await noContainers();

describe.skipIf(missing !== undefined)(
  `the container image${missing === undefined ? '' : ` (NOT RUN: ${missing})`}`,
  () => {
    const scope = forSuite();
    let image: string;
    let env: NodeJS.ProcessEnv;

    const podman = async (...args: string[]) =>
      (await run('podman', ['--runtime=runc', '--cgroup-manager=cgroupfs', ...args], { env })).stdout.trim();
    // The limits in compose.yaml. This machine's limit for open files may be higher than a container allows.
    const sluice = (...args: string[]) => {
      const limits = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--memory=512m'];
      const files = ['--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096'];
      return podman('run', '--rm', '--pull=never', '--network=host', ...limits, ...files, image, ...args);
    };

    beforeAll(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'sluice-oci-'));
      scope(() => rm(folder, { recursive: true, force: true }));
      await makePackages(join(folder, 'packages'));
      const paths = { graphroot: join(folder, 'graph'), runroot: join(folder, 'run') };
      for (const path of Object.values(paths)) await mkdir(path);
      const lines = Object.entries(paths).map(([key, path]) => `${key} = "${path}"\n`);
      await writeFile(join(folder, 'storage.conf'), `[storage]\ndriver = "overlay"\n${lines.join('')}`);
      env = { ...process.env, CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf') };
      const file = (await readdir(join(folder, 'packages'))).find((name) => name.endsWith('.oci.tar'))!;
      const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
      image = `docker.io/library/sluice:${version}`;
      expect(await podman('load', '--quiet', '--input', join(folder, 'packages', file))).toContain(image);
      scope(() => podman('rmi', '--all', '--force'));
    });

    it('runs the demo as user 1000 on a read-only root', async () => {
      expect(await sluice('demo')).toMatch(/orders +[\d,]+ .*delivered/);
      expect(await podman('image', 'inspect', '--format={{.Config.User}}', image)).toBe('1000:1000');
    });

    it("reads /config/sluice.yaml, and reports an error if it's missing", async () => {
      const error = await sluice('check').catch((reason: Error & { code: number; stderr: string }) => reason);
      expect(error).toMatchObject({ code: 2, stderr: expect.stringContaining('/config/sluice.yaml') });
    });
  },
);
