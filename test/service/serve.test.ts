import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../src/cli/commands/serve.ts';
import type { Log } from '../../src/lib/log.ts';
import { fixtures, keys, scratch } from './service.ts';

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; out: string; err: string }>;
}

function start(...flags: string[]): Started {
  return watch(spawn(process.execPath, [inject('door'), 'serve', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] }));
}

function watch(child: ChildProcessByStdio<null, Readable, Readable>): Started {
  onTestFinished(() => void child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }));
  return { child, ended };
}

async function readyIn(file: string): Promise<{ url: string; pid: number }> {
  while (!(await stat(file).catch(() => undefined))) await wait(10);
  return JSON.parse(await readFile(file, 'utf8')) as { url: string; pid: number };
}

describe('sluice serve', () => {
  it('prints the key before it writes the ready file, which it writes before it says that it is listening', async () => {
    const folder = await scratch();
    const readyFile = join(folder, 'ready.json');
    const seen: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      if (String(text).includes('API key')) seen.push(`key, ready: ${existsSync(readyFile)}`);
      return true;
    });
    onTestFinished(() => write.mockRestore());
    const log = { info: () => seen.push(`listening, ready: ${existsSync(readyFile)}`) } as unknown as Log;
    const service = await serve({ host: '127.0.0.1', port: 0, data: 'memory', limits: true, readyFile, log });
    await service.close();
    expect(seen).toEqual(['key, ready: false', 'listening, ready: true']);
  });

  it('shows the key of a new company even if it cannot write the ready file', async () => {
    const folder = await scratch();
    const { ended } = start(
      '--port',
      '0',
      '--data',
      join(folder, 'data'),
      '--ready-file',
      join(folder, 'no/ready.json'),
    );
    const { code, out, err } = await ended;
    expect(code).not.toBe(0);
    expect(err).toContain('Cannot write the ready file');
    expect(out).toMatch(/API key \(shown only once\):\s+[0-9a-f]{40}/);
    expect(out).not.toContain('listening');
  });

  it('writes its address to the ready file and the log, and exits with 0 on SIGTERM', async () => {
    const folder = await scratch();
    const file = join(folder, 'fixtures.json');
    await writeFile(file, JSON.stringify(fixtures));
    const [ready, requests] = [join(folder, 'ready.json'), join(folder, 'requests.jsonl')];
    const { child, ended } = start(
      '--port',
      '0',
      '--memory',
      '--fixtures',
      file,
      '--ready-file',
      ready,
      '--request-log',
      requests,
    );
    const { url, pid } = await readyIn(ready);
    expect(pid).toBe(child.pid);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/1\.0$/);
    const answer = await fetch(`${url}/profile`, { headers: { 'kf-api-key': keys.acmeAdmin } });
    expect(answer.status).toBe(200);
    child.kill('SIGTERM');
    const { code, out, err } = await ended;
    expect([code, out]).toEqual([0, '']);
    expect(err).toContain(url);
    expect(err).not.toContain(keys.acmeAdmin);
    expect(JSON.parse(await readFile(requests, 'utf8'))).toMatchObject({ path: '/api/1.0/profile', status: 200 });
  });

  it("doesn't follow a link in place of the ready file's temporary file", async () => {
    const folder = await scratch();
    const [ready, victim] = [join(folder, 'ready.json'), join(folder, 'victim')];
    await writeFile(victim, 'unchanged');
    // The shell's process ID is also the service's.
    const script = `ln -s "$1" "$2.$$.part"; exec "$3" "$4" serve --memory --port 0 --ready-file "$2"`;
    const words = ['-c', script, 'sh', victim, ready, process.execPath, inject('door')];
    const { child, ended } = watch(spawn('sh', words, { stdio: ['ignore', 'pipe', 'pipe'] }));
    expect((await readyIn(ready)).pid).toBe(child.pid);
    expect(await readFile(victim, 'utf8')).toBe('unchanged');
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  it('rejects --data together with --memory', async () => {
    const { code, err } = await start('--memory', '--data', await scratch(), '--port', '0').ended;
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("'--data <folder>'") });
  });

  it("shows the first admin's key only once, and only on standard output", async () => {
    const folder = await scratch();
    const outs: string[] = [];
    for (const turn of ['1', '2']) {
      const ready = join(folder, `ready-${turn}.json`);
      const { child, ended } = start('--port', '0', '--data', join(folder, 'data'), '--ready-file', ready);
      await readyIn(ready);
      child.kill('SIGINT');
      const { out, err } = await ended;
      expect(err).not.toMatch(/[0-9a-f]{40}/);
      outs.push(out);
    }
    expect(outs[0]).toMatch(/\b[0-9a-f]{40}\b/);
    expect(outs[1]).toBe('');
  });

  it.each([
    [['--port', '70000'], '--port'],
    [['--port', 'x'], '--port'],
    [['--upload-limit', '10MB'], '--upload-limit'],
    [['--memory', '--port', '0', '--fixtures', '/nowhere.yaml'], '/nowhere.yaml'],
    [['--memory', '--port', '0', '--ready-file', '/nowhere/ready.json'], '/nowhere/ready.json'],
  ])('exits with 2 and a clear message for %j', async (flags, named) => {
    const { code, err } = await start(...flags).ended;
    expect(code).toBe(2);
    expect(err).toContain(named);
    expect(err).not.toContain('    at ');
  });
});
