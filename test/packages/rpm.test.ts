import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkout, nodePackage } from '../../deploy/package/packages.ts';
import { makeRpm } from '../../deploy/package/rpm.ts';
import { forSuite } from '../journey/process.ts';
import { isInstalled, noMachine } from '../systemd/machine.ts';
import { installLines, PackageMachine } from './package-machine.ts';

const run = promisify(execFile);
const missing = noMachine() ?? (isInstalled('rpmbuild') ? undefined : 'missing: rpmbuild (apt-get install rpm)');

// A Debian in which rpm installs the package, with --nodeps because rpm doesn't know the libraries that dpkg has
// installed. The tests share one machine and form a sequence: each one continues where the previous one ended.
describe.skipIf(missing !== undefined)(
  `the RPM package${missing === undefined ? '' : ` (NOT RUN: ${missing})`}`,
  () => {
    const scope = forSuite();
    let machine: PackageMachine;
    let rpm: string;

    const ask = async (...query: string[]) => (await run('rpm', ['--query', '--package', rpm, ...query])).stdout.trim();

    beforeAll(async () => {
      machine = await PackageMachine.boot(scope, ['rpm']);
      rpm = join(machine.folder, 'packages', await machine.package('.rpm'));
    });

    it('declares its license, and reveals nothing about the machine that built it', async () => {
      const tags = '%{NAME} %{LICENSE} %{BUILDHOST} %{PAYLOADCOMPRESSOR} %{VENDOR}';
      expect(await ask('--queryformat', tags)).toBe('sluice Apache-2.0 localhost zstd (none)');
      expect((await ask('--licensefiles')).split('\n')).toContain('/usr/lib/sluice/LICENSE');
      expect(await ask('--configfiles')).toBe('/etc/sluice/sluice.yaml');
    });

    it('requires the libraries that the included Node needs and the programs that its scripts call', async () => {
      const required = (await ask('--requires')).split('\n').filter((name) => !name.startsWith('rpmlib('));
      const { stdout } = await run('ldd', [join(checkout, 'node_modules', nodePackage, 'bin/node')]);
      const libraries = [...stdout.matchAll(/^\s*(?:\/\S+\/)?([\w+.-]+\.so\.\d+) /gm)].map(([, name]) => name!);
      const names = required.map((name) => name.replace(/\(.*/, ''));
      const others = ['/bin/sh', 'coreutils', 'glibc-common', 'rtld', 'shadow-utils'];
      expect([...new Set(names)].sort()).toEqual(
        [...libraries.filter((name) => name !== 'linux-vdso.so.1'), ...others].sort(),
      );
      expect(required).toContain('libc.so.6(GLIBC_2.28)(64bit)');
    });

    it("delivers the first rows after it's installed and started as docs/operate.md says", async () => {
      const [install] = installLines('.rpm');
      const [, demo, ...others] = installLines('.deb');
      await machine.addFiles('id\n1\n');
      const type = (line: string) =>
        machine.done(`cd /root; sudo() { "$@"; }; dnf() { shift; rpm --upgrade --nodeps "$@"; }; ${line}`);
      await type(install!);
      expect(await type(demo!)).toMatch(/orders +[\d,]+ .*delivered/);
      expect(await machine.done('rpm --verify --nodeps sluice')).toBe('');
      for (const line of others) await type(line);
      expect(await machine.show('ActiveState')).toBe('active');
      await machine.shows('id\n1\n');
    });

    it('runs the daemon as the sluice user, who owns the state', async () => {
      expect((await machine.done(`stat --format=%U /proc/${await machine.show('MainPID')}`)).trim()).toBe('sluice');
      expect((await machine.done('stat --format=%U:%a /var/lib/sluice')).trim()).toBe('sluice:700');
      expect((await machine.done('stat --format=%U:%a /etc/sluice/credentials')).trim()).toBe('root:700');
    });

    it('stops the daemon before an upgrade and starts it afterwards, and the daemon then sends the owed payload', async () => {
      await machine.owe('id\n2\n');
      const before = await machine.show('MainPID');
      const newer = await makeRpm({ into: machine.path('root'), revision: '2', epochSeconds: 1_800_000_000 });
      await machine.done(`rpm --upgrade --nodeps /root/${newer}`);
      expect(await machine.done('rpm --query sluice')).toMatch(/-2\.\w+\n$/);
      expect(await machine.show('MainPID')).not.toBe(before);
      await machine.continues('id\n2\n');
    });

    it("keeps the config, the key and the state when it's removed, and uses them when it's installed again", async () => {
      await machine.done('rpm --erase sluice');
      expect((await machine.run('systemctl is-active sluice')).code).not.toBe(0);
      expect((await machine.run('find /etc/systemd -name "sluice*" | grep .')).code).toBe(1);
      expect((await machine.run('test -e /usr/lib/sluice || test -e /usr/bin/sluice')).code).toBe(1);
      await machine.done('test -e /etc/sluice/credentials/api_key && test -e /var/lib/sluice/sluice.db');
      await machine.done('rpm --install --nodeps /root/*-2.*.rpm');
      await machine.done('mv /etc/sluice/sluice.yaml.rpmsave /etc/sluice/sluice.yaml && systemctl start sluice');
      expect(await machine.show('ActiveState')).toBe('active');
      expect(await machine.done('SLUICE_CONFIG=/etc/sluice/sluice.yaml sluice history')).toContain('orders');
    });

    it("isn't built without rpmbuild, and the last output line says why and what to install", async () => {
      const tools = join(machine.folder, 'tools');
      await mkdir(tools);
      for (const name of await readdir('/usr/bin')) {
        if (name !== 'rpmbuild') await symlink(join('/usr/bin', name), join(tools, name));
      }
      const into = join(machine.folder, 'without');
      const path = [tools, '/usr/sbin', '/sbin'].join(delimiter);
      const { stderr } = await run(process.execPath, ['deploy/package/main.ts', '--into', into], {
        cwd: checkout,
        env: { ...process.env, PATH: path },
      });
      expect(stderr).toMatch(/No RPM package was built: rpmbuild is not installed .*apt-get install rpm\)\n$/);
      const names = await readdir(into);
      expect(names.map((name) => name.replace(/.*\./, '')).sort()).toEqual(['SHA256SUMS', 'deb', 'json', 'tar']);
      await rm(into, { recursive: true });
    });
  },
);
