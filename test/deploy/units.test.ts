import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';

const run = promisify(execFile);
const folder = resolve(import.meta.dirname, '../../deploy/systemd');
const names = await readdir(folder);
const services = names.filter((name) => name.endsWith('.service'));

/** The units in their own folder, changed to start a program that every machine has. */
async function standIns(): Promise<string[]> {
  const into = await mkdtemp(join(tmpdir(), 'sluice-units-'));
  onTestFinished(() => rm(into, { recursive: true }));
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      await writeFile(join(into, name), text.replaceAll(/^(Exec\w+=)sluice\b/gm, '$1/bin/true'));
      return join(into, name);
    }),
  );
}

/** What systemd reports about these units, leaving out other units of the machine. Rejects if it finds errors. */
async function verify(units: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', ...units]);
  return stdout + stderr;
}

const valuesOf = (text: string, key: string): string[] =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map((match) => match[1]!);

describe('the systemd units', () => {
  it('cause no systemd warnings', async () => {
    expect(await verify(await standIns())).toBe('');
  });

  it("start sluice from systemd's search path, since npm installs it into /usr/local/bin or /usr/bin", async () => {
    for (const name of services) {
      const text = await readFile(join(folder, name), 'utf8');
      const programs = valuesOf(text, 'Exec(?:Start|StartPre|Reload|Stop)').map((command) => command.split(' ')[0]);
      expect(
        programs.filter((program) => program?.endsWith('sluice')),
        name,
      ).not.toEqual([]);
      expect(
        programs.filter((program) => program?.endsWith('/sluice')),
        name,
      ).toEqual([]);
    }
  });

  it("pass verification even if another package's unit is invalid", async () => {
    const units = await standIns();
    const into = dirname(units[0]!);
    await mkdir(join(into, 'sysinit.target.wants'));
    await writeFile(join(into, 'other.service'), '[Service]\nExecStart=/bin/true\nUnheardOf=1\n');
    await symlink('../other.service', join(into, 'sysinit.target.wants/other.service'));
    expect(await verify(units)).toBe('');
    await appendFile(units.find((path) => path.endsWith('.service'))!, 'UnheardOf=2\n');
    await expect(verify(units)).rejects.toThrow('UnheardOf');
  });

  it.each(services)('%s is sandboxed enough for an exposure level of 2 or less', async (name) => {
    const unit = (await standIns()).find((path) => path.endsWith(`/${name}`))!;
    const { stdout } = await run('systemd-analyze', [
      'security',
      '--offline=true',
      '--threshold=20',
      '--no-pager',
      unit,
    ]);
    expect(Number(/exposure level for .*: ([\d.]+) /.exec(stdout)?.[1])).toBeLessThanOrEqual(2);
  });

  it.each(services)(
    '%s allows JIT compilation and sets the paths of the state and the credentials as its header comment says',
    async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      expect(valuesOf(text, 'MemoryDenyWriteExecute')).toEqual([]);
      expect(valuesOf(text, 'DynamicUser')).toEqual(['yes']);
      const [state] = valuesOf(text, 'StateDirectory');
      expect(valuesOf(text, 'Environment')).toContain(`SLUICE_STATE=/var/lib/${state}`);
      const [credential] = valuesOf(text, 'LoadCredential').map((value) => value.split(':')[0]);
      // The credential that systemd provides in the unit, and the file itself for root, who manages it without systemd.
      const [loaded] = valuesOf(text, 'LoadCredential').map((value) => value.split(':')[1]!);
      expect(text).toContain(`api_key: \${file:\${env:CREDENTIALS_DIRECTORY:-${dirname(loaded!)}}/${credential}}`);
    },
  );

  it('give the daemon enough time to stop and allow its helper to notify systemd', async () => {
    const text = await readFile(join(folder, 'sluice.service'), 'utf8');
    expect(Number.parseInt(valuesOf(text, 'TimeoutStopSec')[0]!, 10)).toBeGreaterThan(10);
    expect(valuesOf(text, 'Type')).toEqual(['notify']);
    expect(valuesOf(text, 'NotifyAccess')).toEqual(['all']);
    // If schedules are silent for two and a half minutes, that is an error; pings are sent twice per period.
    expect(Number.parseInt(valuesOf(text, 'WatchdogSec')[0]!, 10)).toBeGreaterThanOrEqual(30);
  });
});
