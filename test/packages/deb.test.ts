import { execFile } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { packagesNeeded } from '../../deploy/package/packages.ts';
import { forSuite } from '../journey/process.ts';
import { noMachine } from '../systemd/machine.ts';
import { makePackages } from './make-packages.ts';
import { installLines, PackageMachine } from './package-machine.ts';

const execute = promisify(execFile);
const missing = noMachine();

/** The same package with another version and timestamp, compressed quickly. */
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

// The tests share one machine and form a sequence: each one continues where the previous one ended.
describe.skipIf(missing !== undefined)(
  `the Debian package${missing === undefined ? '' : ` (NOT RUN: ${missing})`}`,
  () => {
    const scope = forSuite();
    let machine: PackageMachine;
    let packages: string;

    beforeAll(async () => {
      machine = await PackageMachine.boot(scope);
      packages = join(machine.folder, 'packages');
    });

    it('is identical, byte for byte, if the same commit is packaged again', async () => {
      const again = join(machine.folder, 'again');
      await makePackages(again);
      for (const name of await readdir(packages)) {
        const same = (await readFile(join(packages, name))).equals(await readFile(join(again, name)));
        expect({ name, same }).toEqual({ name, same: true });
      }
    });

    it('is listed in SHA256SUMS together with its software bill of materials', async () => {
      await execute('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: packages });
      const sums = await readFile(join(packages, 'SHA256SUMS'), 'utf8');
      const names = sums
        .trim()
        .split('\n')
        .map((line) => line.split(/ +/)[1]!);
      expect([...names, 'SHA256SUMS'].sort()).toEqual((await readdir(packages)).sort());
      const sbom = await readFile(join(packages, names.find((name) => name.endsWith('.cdx.json'))!), 'utf8');
      const included = (JSON.parse(sbom) as { components: { purl: string }[] }).components.map(({ purl }) => purl);
      for (const name of ['undici', 'pino', 'node-linux-']) expect(included.join()).toContain(`pkg:npm/${name}`);
    });

    it("delivers the first rows after it's installed and started as docs/operate.md says", async () => {
      const [install, demo, ...others] = installLines('.deb');
      await machine.addFiles('id\n1\n');
      // A minimal Debian has no sudo, which root doesn't need.
      const type = (line: string) => machine.done(`cd /root; sudo() { "$@"; }; ${line}`);
      await type(install!);
      expect(await type(demo!)).toMatch(/orders +[\d,]+ .*delivered/);
      for (const line of others) await type(line);
      expect(await machine.show('ActiveState')).toBe('active');
      await machine.shows('id\n1\n');
    });

    it('runs the daemon as the sluice user, who owns the state', async () => {
      expect((await machine.done(`stat --format=%U /proc/${await machine.show('MainPID')}`)).trim()).toBe('sluice');
      expect((await machine.done('stat --format=%U:%a /var/lib/sluice')).trim()).toBe('sluice:700');
      expect((await machine.done('stat --format=%U:%a /etc/sluice/credentials')).trim()).toBe('root:700');
    });

    it('contains every package that it loads on demand, and takes at most 12 MB in addition to Node', async () => {
      const imports = (await packagesNeeded()).map((name) => `import(${JSON.stringify(name)})`);
      await machine.done(
        `cd /usr/lib/sluice && node_modules/node-linux-*/bin/node -e 'Promise.all([${imports}]).catch((error) => { console.error(error); process.exitCode = 1; })'`,
      );
      const size = await machine.done('du --summarize --block-size=1048576 --exclude="node-linux-*" /usr/lib/sluice');
      expect(Number.parseInt(size, 10)).toBeLessThanOrEqual(12);
    });

    it('has a manual page for each command and for the config', async () => {
      const pages = '/usr/share/man';
      await machine.done(`gzip --test ${pages}/man1/sluice*.1.gz ${pages}/man5/sluice.yaml.5.gz`);
      expect(await machine.done(`zcat ${pages}/man1/sluice-sync.1.gz`)).toMatch(/^\.TH SLUICE\\-SYNC 1 \d{4}-/);
    });

    it('completes commands in bash', async () => {
      const script = '/usr/share/bash-completion/completions/sluice';
      expect(await machine.done(`bash -c '. ${script} && complete -p sluice'`)).toContain('sluice');
      for (const path of ['zsh/vendor-completions/_sluice', 'fish/vendor_completions.d/sluice.fish']) {
        await machine.done(`test -s /usr/share/${path}`);
      }
    });

    it('stops the daemon before an upgrade and starts it afterwards, and the daemon then sends the owed payload', async () => {
      await machine.owe('id\n2\n');
      const deb = join(packages, await machine.package('.deb'));
      await cp(await makeNewer(deb, machine.folder), machine.path('root/newer.deb'));
      await machine.done('apt-get install -y /root/newer.deb');
      expect(await machine.done('sluice --version')).toContain('99.0.0');
      await machine.continues('id\n2\n');
    });

    it("keeps the config and the state when it's removed, and uses them when it's installed again", async () => {
      await machine.done('apt-get remove -y sluice');
      expect((await machine.run('systemctl is-active sluice')).code).not.toBe(0);
      expect((await machine.run('command -v sluice')).code).not.toBe(0);
      await machine.done('test -e /etc/sluice/sluice.yaml && test -e /var/lib/sluice/sluice.db');
      await machine.done('apt-get install -y /root/newer.deb && systemctl start sluice');
      expect(await machine.show('ActiveState')).toBe('active');
      expect(await machine.done('SLUICE_CONFIG=/etc/sluice/sluice.yaml sluice history')).toContain('orders');
    });

    it("deletes the config, the key and the state when it's purged", async () => {
      await machine.done('apt-get purge -y sluice');
      for (const path of ['/usr/lib/sluice', '/etc/sluice', '/var/lib/sluice', '/var/cache/sluice']) {
        expect({ path, code: (await machine.run(`test -e ${path}`)).code }).toEqual({ path, code: 1 });
      }
      expect((await machine.run('find /etc/systemd -name "sluice*" | grep .')).code).toBe(1);
    });
  },
);
