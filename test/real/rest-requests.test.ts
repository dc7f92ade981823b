import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import rest from '../../connectors/simple_rest/index.ts';
import { extractTable } from '../connectors/harness.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startGoHttpbin } from '../servers/go-httpbin.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Compiling the server takes minutes on first use. */
const firstUseMs = 15 * 60_000;

describeWithWebServer('go-httpbin', 'requests to go-httpbin', () => {
  let server: WebServer;
  let folder: string;
  beforeAll(async () => {
    server = await startGoHttpbin();
    folder = await mkdtemp(join(tmpdir(), 'sluice-httpbin-'));
  }, firstUseMs);
  afterAll(async () => {
    await server?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  async function read(query: Record<string, unknown>, source: Record<string, unknown> = {}) {
    const scratch = await mkdtemp(join(folder, 'scratch-'));
    const options = { source: { url: server.url, retries: 0, ...source }, query: { format: 'json', ...query } };
    const { columns, rows } = await extractTable(rest, { ...options, folder, scratch });
    return rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])));
  }

  it.each(['MD5', 'SHA-256'])(
    'a digest login with %s is accepted, and a wrong password is refused',
    async (algorithm) => {
      const path = `/digest-auth/auth/ann/pass/${algorithm}`;
      const auth = { kind: 'digest', user: 'ann', password: 'pass' };
      expect(await read({ path }, { auth })).toEqual([{ authenticated: 'true', authorized: 'true', user: 'ann' }]);
      await expect(read({ path }, { auth: { ...auth, password: 'other' } })).rejects.toMatchObject({
        code: 'REST_LOGIN',
      });
    },
  );

  it('the cookies of a login are sent with each request, even if the login redirects', async () => {
    const call = { path: '/cookies/set?session=cookie-4711&lang=en' };
    const auth = { kind: 'login_call', call, token_path: 'cookies' };
    const [row] = await read({ path: '/cookies' }, { auth });
    expect(Object.values(row!)).toEqual(expect.arrayContaining(['cookie-4711', 'en']));
  });

  it('a form arrives as fields, with lists and special characters', async () => {
    const form = { q: 'a b&c=d+ü', tag: ['x', 'y'] };
    const [row] = await read({ path: '/post', method: 'POST', form, flatten: 1 });
    expect(row).toMatchObject({ 'form.q': '["a b&c=d+ü"]', 'form.tag': '["x","y"]' });
  });

  it('a filter with blanks arrives as it was written', async () => {
    const parameters = [{ name: 'top', value: 'a b+c' }];
    const [row] = await read({ path: "/get?$filter=name%20eq%20'A+B'&flag", parameters, flatten: 1 });
    expect(row).toMatchObject({ 'args.$filter': '["name eq \'A B\'"]', 'args.top': '["a b+c"]', 'args.flag': '[""]' });
    // In a URL, the apostrophe and its escape are equivalent.
    expect(row!.url).toContain('/get?$filter=name%20eq%20%27A+B%27&flag&top=a%20b%2Bc');
  });

  it('a status means what `answers` says', async () => {
    const columns = [{ name: 'id', type: 'integer' }];
    const missing = { path: '/status/404', columns, answers: [{ status: 404, means: 'missing' }] };
    expect(await read(missing)).toEqual([]);
    const later = read({ path: '/status/418', answers: [{ status: 418, means: 'wait', after: '1h' }] });
    await expect(later).rejects.toMatchObject({ code: 'REST_BUSY', retryAfterMs: 3_600_000 });
  });

  it('several paths are read one after another', async () => {
    const paths = [
      { path: '/base64/eyJpZCI6MX0=', name: 'a' },
      { path: '/base64/eyJpZCI6Mn0=', name: 'b' },
    ];
    expect(await read({ paths, path_column: 'from' })).toEqual([
      { from: 'a', id: '1' },
      { from: 'b', id: '2' },
    ]);
  });
});
