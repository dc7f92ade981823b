import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chown, lchown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { startService } from '../../src/service/service.ts';
import { Bench, fixtures, keys, scratch, until } from './service.ts';

const headers = { 'kf-api-key': keys.acmeAdmin };

/** The service in its own process. */
async function forkService(folder: string): Promise<{ child: ChildProcess; url: string }> {
  const file = join(folder, '..', `${folder.split('/').at(-1)}.fixtures.json`);
  await writeFile(file, JSON.stringify(fixtures));
  const child = fork(join(import.meta.dirname, 'child.ts'), [folder, file], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [url] = (await once(child, 'message')) as [string];
  return { child, url };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function createSource(url: string): Promise<string> {
  const answer = await request(`${url}/datasources`, { method: 'POST', headers, body: '{"name": "Sales"}' });
  const { meta } = (await answer.body.json()) as { meta: { location: string } };
  return meta.location.split('/').at(-1)!;
}

const put = (url: string, id: string, body: string) =>
  request(`${url}/datasource-instances/${id}/data`, { method: 'PUT', headers, body });

/** What the instance shows after the next start, and the number of documents in the folder. */
async function afterRestart(folder: string, id: string): Promise<{ text: string; documents: number }> {
  const service = new Bench(await startService({ data: { folder }, limits: false }));
  onTestFinished(() => service.close());
  const { text } = await service.call('GET', `/datasource-instances/${id}/data?raw=true`);
  return { text, documents: (await readdir(join(folder, 'documents'))).length };
}

describe('a service that is killed', () => {
  it('in the middle of an upload shows the old data and no trace of the new data after the next start', async () => {
    const folder = await scratch();
    const { child, url } = await forkService(join(folder, 'data'));
    const id = await createSource(url);
    expect((await put(url, id, '["old"]')).statusCode).toBe(200);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      `PUT /api/1/datasources/${id}/data HTTP/1.1\r\nhost: x\r\nkf-api-key: ${keys.acmeAdmin}\r\ncontent-length: 9\r\n\r\n["new",`,
    );
    const documents = join(folder, 'data', 'documents');
    await until(async () => (await readdir(documents)).length === 2);
    await kill(child);
    socket.destroy();
    expect(await afterRestart(join(folder, 'data'), id)).toEqual({ text: '["old"]', documents: 1 });
  });

  it.each([
    ['commit', '["old"]'],
    ['remove', '["new"]'],
  ] as const)('at the upload\'s "%s" step shows one complete document, %s', async (step, shown) => {
    const folder = await scratch();
    const { child, url } = await forkService(join(folder, 'data'));
    const id = await createSource(url);
    expect((await put(url, id, '["old"]')).statusCode).toBe(200);
    const armed = once(child, 'message');
    child.send(step);
    await armed;
    const ended = once(child, 'exit');
    await expect(put(url, id, '["new"]')).rejects.toThrow();
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(await readdir(join(folder, 'data', 'documents'))).toHaveLength(2);
    expect(await afterRestart(join(folder, 'data'), id)).toEqual({ text: shown, documents: 1 });
  });

  it('keeps all data that it confirmed', async () => {
    const folder = await scratch();
    const { child, url } = await forkService(join(folder, 'data'));
    const id = await createSource(url);
    await put(url, id, '[1]');
    await request(`${url}/datasource-instances/${id}/properties`, {
      method: 'PUT',
      headers,
      body: '{"properties":{"a":{"b":[1]}}}',
    });
    await request(`${url}/datasources/${id}/share-rights`, {
      method: 'PUT',
      headers,
      body: '{"groups":[{"group_id":"acme-team"}]}',
    });
    await kill(child);
    const service = new Bench(await startService({ data: { folder: join(folder, 'data') } }));
    onTestFinished(() => service.close());
    expect((await service.call('GET', `/datasource-instances/${id}/properties`)).body.data).toEqual({
      properties: { a: { b: [1] } },
    });
    expect((await service.call('GET', `/datasources/${id}/share-rights`)).body.data.share_rights).toEqual([
      { group_id: 'acme-team', group_name: 'Team', can_edit: false },
    ]);
    expect((await service.call('GET', `/datasource-instances/${id}/data?raw=true`)).text).toBe('[1]');
    const usage = await service.call('GET', '/usage-overview/api-usage?start_date=0&end_date=4000000000');
    expect(usage.body.data.overview).toMatchObject([{ api_usage: '8', api_limit: '10000' }]);
  });
});

describe('a data folder', () => {
  it("can't be opened by a second service until the first one has stopped", async () => {
    const folder = await scratch();
    const first = await startService({ data: { folder } });
    await expect(startService({ data: { folder } })).rejects.toMatchObject({
      code: 'SERVICE_DATA_IN_USE',
      family: 'config',
    });
    await first.close();
    const second = await startService({ data: { folder } });
    await second.close();
  });

  it('that is empty gets a company with one admin, whose key is shown once and never stored', async () => {
    const folder = await scratch();
    const service = new Bench(await startService({ data: { folder } }));
    const key = service.service.firstKey!;
    expect(key).toMatch(/^[0-9a-f]{40}$/);
    const { data } = (await service.call('GET', '/profile', { key })).body;
    expect(data).toMatchObject({ company: { name: 'Local' } });
    await service.close();
    const again = new Bench(await startService({ data: { folder } }));
    onTestFinished(() => again.close());
    expect(again.service.firstKey).toBe(undefined);
    expect((await again.call('GET', '/profile', { key })).status).toBe(200);
    const { readFile } = await import('node:fs/promises');
    for (const file of await readdir(folder)) {
      if (file !== 'documents') expect((await readFile(join(folder, file))).includes(key)).toBe(false);
    }
  });

  it('that is empty creates its first key at the first successful start', async () => {
    const folder = await scratch();
    const first = await startService({ data: 'memory' });
    onTestFinished(() => first.close());
    await expect(startService({ data: { folder }, port: first.port })).rejects.toThrow();
    const second = await startService({ data: { folder } });
    onTestFinished(() => second.close());
    expect(second.firstKey).toMatch(/^[0-9a-f]{40}$/);
  });

  it('is cleaned up after a crash, without deleting foreign files', async () => {
    const folder = await scratch();
    const documents = join(folder, 'documents');
    await mkdir(documents);
    const orphans = ['0'.repeat(32), `${'1'.repeat(32)}.part`];
    for (const name of ['letter.txt', 'cafe.part', ...orphans]) await writeFile(join(documents, name), 'x');
    await (await startService({ data: { folder } })).close();
    expect((await readdir(documents)).sort()).toEqual(['cafe.part', 'letter.txt']);
  });

  it("that can't be used causes a config error with the folder's name", async () => {
    const folder = await scratch();
    await writeFile(join(folder, 'file'), '');
    await mkdir(join(folder, 'half'));
    await writeFile(join(folder, 'half', 'documents'), '');
    for (const name of ['file', 'file/below', 'half']) {
      const started = startService({ data: { folder: join(folder, name) } });
      await expect(started).rejects.toMatchObject({ code: 'SERVICE_DATA_FOLDER', where: { file: join(folder, name) } });
    }
  });

  it('causes a config error if its database is a link, and the link is not followed', async () => {
    const folder = await scratch();
    await symlink(join(folder, 'absent'), join(folder, 'service.db'));
    await expect(startService({ data: { folder } })).rejects.toMatchObject({
      code: expect.stringMatching(/^SERVICE_DATA_(?:FOLDER|UNREADABLE)$/),
      message: expect.stringContaining('symbolic link'),
    });
    expect(await readdir(folder)).toEqual(['documents', 'service.db']);
  });

  // SQLite follows the current user's links to its log, so only root can test that another user's aren't followed.
  it.runIf(process.getuid!() === 0)("isn't used by root if another user has replaced a file with a link", async () => {
    const [folder, victim] = [await scratch(), join(await scratch(), 'victim')];
    await writeFile(victim, 'of root');
    await chown(folder, 12_345, 12_345);
    await symlink(victim, join(folder, 'service.db-wal'));
    await lchown(join(folder, 'service.db-wal'), 12_345, 12_345);
    await expect(startService({ data: { folder } })).rejects.toMatchObject({ code: 'SERVICE_DATA_FOLDER' });
    expect({ text: await readFile(victim, 'utf8'), uid: (await stat(victim)).uid }).toEqual({
      text: 'of root',
      uid: 0,
    });
  });

  it.runIf(process.getuid!() === 0)('stays readable for its owner if root serves it', async () => {
    const folder = await scratch();
    await chown(folder, 12_345, 12_345);
    const service = new Bench(await startService({ data: { folder } }));
    const key = service.service.firstKey!;
    const { location } = (await service.call('POST', '/datasources', { key, body: { name: 'Sales' } })).body.meta;
    await service.call('PUT', `/datasource-instances/${location!.split('/').at(-1)}/data`, { key, body: '["shown"]' });
    await service.close();
    const names = await readdir(folder, { recursive: true });
    expect(names).toContainEqual(expect.stringMatching(/^documents\/[0-9a-f]{32}$/));
    const owners = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).uid));
    expect(new Set(owners)).toEqual(new Set([12_345]));
  });

  it("isn't opened if a newer version wrote it", async () => {
    const folder = await scratch();
    const db = new SqliteDatabase(join(folder, 'service.db'));
    db.pragma('user_version = 9999');
    db.close();
    await expect(startService({ data: { folder } })).rejects.toMatchObject({ code: 'SERVICE_DATA_TOO_NEW' });
  });

  it("can't be served at an address in use, and the config error contains that address", async () => {
    const first = await startService({ data: 'memory' });
    onTestFinished(() => first.close());
    const second = startService({ data: 'memory', port: first.port });
    await expect(second).rejects.toMatchObject({
      code: 'SERVICE_ADDRESS',
      message: expect.stringContaining(String(first.port)),
    });
  });
});
