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

/** The units in a folder of their own, where what they start is a program that every machine has. */
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

/** What systemd says of these units; of the units that a machine pulls in beside them, it says nothing. Rejects if it finds faults. */
async function verify(units: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', ...units]);
  return stdout + stderr;
}

const valuesOf = (text: string, key: string): string[] =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map((match) => match[1]!);

describe('the units for systemd', () => {
  it('are such that systemd has nothing to say about them', async () => {
    expect(await verify(await standIns())).toBe('');
  });

  it('start the sluice on the search path of systemd, since npm installs it into /usr/local/bin or /usr/bin', async () => {
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

  it('are not blamed for a unit of another package', async () => {
    const units = await standIns();
    const into = dirname(units[0]!);
    await mkdir(join(into, 'sysinit.target.wants'));
    await writeFile(join(into, 'other.service'), '[Service]\nExecStart=/bin/true\nUnheardOf=1\n');
    await symlink('../other.service', join(into, 'sysinit.target.wants/other.service'));
    expect(await verify(units)).toBe('');
    await appendFile(units.find((path) => path.endsWith('.service'))!, 'UnheardOf=2\n');
    await expect(verify(units)).rejects.toThrow('UnheardOf');
  });

  it.each(services)('%s is locked in so far that systemd calls it safe', async (name) => {
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

  it.each(services)('%s lets V8 compile, and finds state and credentials where its first lines say', async (name) => {
    const text = await readFile(join(folder, name), 'utf8');
    expect(valuesOf(text, 'MemoryDenyWriteExecute')).toEqual([]);
    expect(valuesOf(text, 'DynamicUser')).toEqual(['yes']);
    const [state] = valuesOf(text, 'StateDirectory');
    expect(valuesOf(text, 'Environment')).toContain(`SLUICE_STATE=/var/lib/${state}`);
    const [credential] = valuesOf(text, 'LoadCredential').map((value) => value.split(':')[0]);
    // What systemd hands over in the unit, and the file itself for root, who looks after it without systemd.
    const [loaded] = valuesOf(text, 'LoadCredential').map((value) => value.split(':')[1]!);
    expect(text).toContain(`api_key: \${file:\${env:CREDENTIALS_DIRECTORY:-${dirname(loaded!)}}/${credential}}`);
  });

  it('give the daemon longer to end than it asks for, and its helper the right to speak', async () => {
    const text = await readFile(join(folder, 'sluice.service'), 'utf8');
    expect(Number.parseInt(valuesOf(text, 'TimeoutStopSec')[0]!, 10)).toBeGreaterThan(10);
    expect(valuesOf(text, 'Type')).toEqual(['notify']);
    expect(valuesOf(text, 'NotifyAccess')).toEqual(['all']);
    // The schedules may be silent for two and a half minutes before that counts; pings come twice a period.
    expect(Number.parseInt(valuesOf(text, 'WatchdogSec')[0]!, 10)).toBeGreaterThanOrEqual(30);
  });
});
