import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { makeFolder, start, until } from '../journey/process.ts';

interface Ready {
  readonly url: string;
  readonly pid: number;
  readonly control_url?: string;
  readonly control_token_file?: string;
}

async function serving(folder: string, ...flags: string[]) {
  const file = join(folder, 'ready.json');
  const args = ['serve', '--memory', '--port', '0', '--ready-file', file, ...flags];
  const service = start(args, { serves: true });
  await until('the service to listen', () => existsSync(file));
  return { ...service, ready: JSON.parse(await readFile(file, 'utf8')) as Ready };
}

const clockBy = async (url: string, token: string): Promise<number> => {
  const { statusCode, body } = await request(`${url}/clock`, { headers: { authorization: `Bearer ${token}` } });
  await body.dump();
  return statusCode;
};

describe('sluice serve --control-port', () => {
  it('creates a token, shows it only once, and stores it next to the ready file while it runs', async () => {
    const { child, ended, ready } = await serving(await makeFolder(), '--control-port', '0');
    const file = ready.control_token_file!;
    const token = (await readFile(file, 'utf8')).trim();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await clockBy(ready.control_url!, token)).toBe(200);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(0);
    expect(stdout.split(token)).toHaveLength(2);
    expect(stdout).toContain(ready.control_url!);
    expect(stderr).not.toContain(token);
    expect(existsSync(file)).toBe(false);
  });

  it('reads a token from a file or a flag, and never prints it', async () => {
    const folder = await makeFolder();
    const file = join(folder, 'token');
    await writeFile(file, 'token-of-the-file\n');
    for (const [flag, value, token] of [
      ['--control-token-file', file, 'token-of-the-file'],
      ['--control-token', 'token-of-the-flag', 'token-of-the-flag'],
    ] as const) {
      const { child, ended, ready } = await serving(await makeFolder(), '--control-port', '0', flag, value);
      expect(ready).toEqual({ url: ready.url, pid: child.pid, control_url: ready.control_url });
      expect(await clockBy(ready.control_url!, token)).toBe(200);
      child.kill('SIGTERM');
      const { stdout, stderr } = await ended;
      expect(stdout + stderr).not.toContain(token);
    }
  });

  it('is optional: without it, there is no control interface', async () => {
    const { child, ready } = await serving(await makeFolder());
    expect(ready).toEqual({ url: ready.url, pid: child.pid });
  });
});

describe('sluice serve', () => {
  it.each([
    [['--memory', '--control-port', '70000'], 'Invalid value for --control-port'],
    [['--memory', '--control-token', 'a-good-token'], 'add --control-port'],
    [['--memory', '--control-port', '0', '--control-token', 'short'], '8 to 200'],
    [['--memory', '--control-port', '0', '--control-token', 'a-good-token', '--control-token-file', 'x'], 'not both'],
    [['--memory', '--control-port', '0', '--control-token-file', '/nowhere/token'], '/nowhere/token'],
    [['--memory', '--request-log', '/nowhere/log'], '/nowhere/log'],
    [['--data', '/proc/x'], 'the data folder cannot be used'],
    [['--data', '/dev/null/x'], 'the data folder cannot be used'],
  ])('exits immediately with 2 and a clear message for %j', async (flags, said) => {
    const { code, stderr } = await start(['serve', '--port', '0', ...flags]).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
    expect(stderr).not.toContain('    at ');
  });
});
