import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packagesNeeded } from '../../deploy/package/packages.ts';
import { readPages } from '../docs/command-lines.ts';
import { forSuite, forTest, until } from '../journey/process.ts';
import { adminKey, makeWorld, type World } from '../journey/world.ts';
import { bootMachine, type Machine, noMachine } from '../systemd/machine.ts';
import { makePackages } from './make-packages.ts';

const execute = promisify(execFile);
const missing = noMachine();
const key = `\${file:\${env:CREDENTIALS_DIRECTORY:-/etc/sluice/credentials}/api_key}`;

/** The same package with another version and stamp, compressed quickly. */
async function makeNewer(deb: string, folder: string): Promise<string> {
  const root = join(folder, 'newer');
  await execute('dpkg-deb', ['--raw-extract', deb, root]);
  const control = await readFile(join(root, 'DEBIAN/control'), 'utf8');
  await writeFile(join(root, 'DEBIAN/control'), control.replace(/^Version: .*$/m, 'Version: 99.0.0-1'));
  const stamp = JSON.parse(await readFile(join(root, 'usr/lib/sluice/dist/build.json'), 'utf8')) as object;
  await writeFile(join(root, 'usr/lib/sluice/dist/build.json'), JSON.stringify({ ...stamp, version: '99.0.0' }));
  const newer = join(folder, 'newer.deb');
  await execute('dpkg-deb', ['--root-owner-group', '-Znone', '--build', root, newer]);
  return newer;
}

/** The lines of docs/operate.md that install the Debian package. */
function installLines(): string[] {
  const blocks = readPages().find(({ file }) => file === 'docs/operate.md')!.blocks;
  const block = blocks.find(({ text }) => text.includes('.deb'))!;
  return block.text.trim().split('\n');
}

// One machine, and one sequence: each test continues where the previous one ended.
describe.skipIf(missing !== undefined)(
  `the Debian package${missing === undefined ? '' : ` (NOT RUN: ${missing})`}`,
  () => {
    const scope = forSuite();
    let folder: string;
    let deb: string;
    let world: World;
    let machine: Machine;

    const file = (path: string, text: string) => writeFile(join(machine.root, path), text);
    const done = async (line: string): Promise<string> => {
      const { code, text } = await machine.run(`export DEBIAN_FRONTEND=noninteractive; ${line}`);
      expect({ line, code, text }).toMatchObject({ code: 0 });
      return text;
    };
    const show = async (name: string) => (await done(`systemctl show --property=${name} --value sluice`)).trim();
    const configFor = (url: string): string =>
      JSON.stringify({
        state: `\${env:SLUICE_STATE:-/var/lib/sluice}`,
        // More than this test needs to poll the service, which also counts.
        destinations: { main: { url, api_key: key, requests_per_day: 50_000 } },
        sources: { files: { connector: 'file' } },
        jobs: {
          orders: {
            ...{ source: 'files', query: { path: '/srv/orders.csv' }, format: 'csv' },
            ...{ target: world.instances.csv, schedule: 'every 1m' },
          },
        },
      });
    const shows = (text: string) =>
      until(`the data source to show ${text}`, async () => (await world.data(world.instances.csv)) === text, {
        seen: async () => (await machine.run('journalctl --unit=sluice --output=cat --no-pager')).text.slice(-4000),
      });

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-packages-'));
      scope(() => rm(folder, { recursive: true, force: true }));
      await makePackages(join(folder, 'packages'));
      const [name] = (await readdir(join(folder, 'packages'))).filter((one) => one.endsWith('.deb'));
      deb = join(folder, 'packages', name!);
      world = await makeWorld({ scope, serve: ['--no-limits'] });
      machine = await bootMachine(async () => undefined);
    });
    afterAll(() => machine?.close());

    it('has the same bytes when the same commit is packaged again', async () => {
      const again = join(folder, 'again');
      await makePackages(again);
      for (const name of await readdir(join(folder, 'packages'))) {
        const same = (await readFile(join(folder, 'packages', name))).equals(await readFile(join(again, name)));
        expect({ name, same }).toEqual({ name, same: true });
      }
    });

    it('is listed in SHA256SUMS, next to a list of all packages inside', async () => {
      await execute('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: join(folder, 'packages') });
      const sums = await readFile(join(folder, 'packages/SHA256SUMS'), 'utf8');
      const names = sums
        .trim()
        .split('\n')
        .map((line) => line.split(/ +/)[1]!);
      expect([...names, 'SHA256SUMS'].sort()).toEqual((await readdir(join(folder, 'packages'))).sort());
      const sbom = await readFile(join(folder, 'packages', names.find((name) => name.endsWith('.cdx.json'))!), 'utf8');
      const included = (JSON.parse(sbom) as { components: { purl: string }[] }).components.map(({ purl }) => purl);
      for (const name of ['undici', 'pino', 'node-linux-']) expect(included.join()).toContain(`pkg:npm/${name}`);
    });

    it('is installed and started as docs/operate.md says, and the first rows arrive', async () => {
      const [install, demo, ...others] = installLines();
      await cp(join(folder, 'packages'), join(machine.root, 'root/packages'), { recursive: true });
      await file('srv/orders.csv', 'id\n1\n');
      await file('root/api_key.txt', adminKey);
      await file('root/sluice.yaml', configFor(world.url));
      // A minimal Debian has no sudo, and its root doesn't need it.
      const type = (line: string) => done(`cd /root; sudo() { "$@"; }; ${line}`);
      await type(install!);
      expect(await type(demo!)).toMatch(/orders +[\d,]+ .*delivered/);
      for (const line of others) await type(line);
      expect(await show('ActiveState')).toBe('active');
      await shows('id\n1\n');
    });

    it('runs the daemon as the user sluice, who owns the state', async () => {
      expect((await done(`stat --format=%U /proc/${await show('MainPID')}`)).trim()).toBe('sluice');
      expect((await done('stat --format=%U:%a /var/lib/sluice')).trim()).toBe('sluice:700');
      expect((await done('stat --format=%U:%a /etc/sluice/credentials')).trim()).toBe('root:700');
    });

    it('has every package that it loads on demand, in at most 12 MB besides Node', async () => {
      const imports = (await packagesNeeded()).map((name) => `import(${JSON.stringify(name)})`);
      await done(
        `cd /usr/lib/sluice && node_modules/node-linux-*/bin/node -e 'Promise.all([${imports}]).catch((error) => { console.error(error); process.exitCode = 1; })'`,
      );
      const size = await done('du --summarize --block-size=1048576 --exclude="node-linux-*" /usr/lib/sluice');
      expect(Number.parseInt(size, 10)).toBeLessThanOrEqual(12);
    });

    it('has a manual page for each command and for the config', async () => {
      const pages = '/usr/share/man';
      await done(`gzip --test ${pages}/man1/sluice*.1.gz ${pages}/man5/sluice.yaml.5.gz`);
      expect(await done(`zcat ${pages}/man1/sluice-sync.1.gz`)).toMatch(/^\.TH SLUICE\\-SYNC 1 \d{4}-/);
    });

    it('completes commands in bash', async () => {
      const script = '/usr/share/bash-completion/completions/sluice';
      expect(await done(`bash -c '. ${script} && complete -p sluice'`)).toContain('sluice');
      for (const path of ['zsh/vendor-completions/_sluice', 'fish/vendor_completions.d/sluice.fish']) {
        await done(`test -s /usr/share/${path}`);
      }
    });

    it('stops the daemon before an upgrade and starts it after that, and an owed payload is sent', async () => {
      const silent = createServer((request) => request.resume()).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      forTest(() => silent.closeAllConnections());
      await file(
        'etc/sluice/sluice.yaml',
        configFor(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/api/1.0`),
      );
      await file('srv/orders.csv', 'id\n2\n');
      const asked = once(silent, 'request');
      await done('systemctl restart sluice');
      await asked;
      silent.close();
      await file('etc/sluice/sluice.yaml', configFor(world.url));
      // Only the owed payload can deliver these rows.
      await rm(join(machine.root, 'srv/orders.csv'));
      await cp(await makeNewer(deb, folder), join(machine.root, 'root/newer.deb'));
      await done('apt-get install -y /root/newer.deb');
      expect(await done('sluice --version')).toContain('99.0.0');
      expect(await show('ActiveState')).toBe('active');
      expect(await show('NRestarts')).toBe('0');
      await shows('id\n2\n');
      expect(await readFile(join(machine.root, 'etc/sluice/sluice.yaml'), 'utf8')).toBe(configFor(world.url));
    });

    it('keeps config and state when it is removed, and continues from them when it is installed again', async () => {
      await done('apt-get remove -y sluice');
      expect((await machine.run('systemctl is-active sluice')).code).not.toBe(0);
      expect((await machine.run('command -v sluice')).code).not.toBe(0);
      await done('test -e /etc/sluice/sluice.yaml && test -e /var/lib/sluice/sluice.db');
      await done('apt-get install -y /root/newer.deb && systemctl start sluice');
      expect(await show('ActiveState')).toBe('active');
      expect(await done('SLUICE_CONFIG=/etc/sluice/sluice.yaml sluice history')).toContain('orders');
    });

    it('deletes config, key and state when it is purged', async () => {
      await done('apt-get purge -y sluice');
      for (const path of ['/usr/lib/sluice', '/etc/sluice', '/var/lib/sluice', '/var/cache/sluice']) {
        expect({ path, code: (await machine.run(`test -e ${path}`)).code }).toEqual({ path, code: 1 });
      }
      expect((await machine.run('find /etc/systemd -name "sluice*" | grep .')).code).toBe(1);
    });
  },
);
