import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import { adminKey, makeWorld } from './world.ts';

interface Checked {
  readonly kind: string;
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
  readonly columns?: readonly { readonly name: string; readonly type: string }[];
  readonly first_page?: { readonly records: number; readonly has_next: boolean };
  readonly warnings?: readonly { readonly code: string; readonly message: string }[];
}

const items = (from: number) => Array.from({ length: 10 }, (_, i) => ({ id: from + i, name: `n${from + i}` }));
const columns = [
  { name: 'id', type: 'integer' },
  { name: 'name', type: 'text' },
];

/** A home whose jobs read an API, a database and a file. */
async function makeSources() {
  const server = await new TestServer().start();
  onTestFinished(() => server.stop());
  server.answer = ({ pathname, searchParams }, response) => {
    if (pathname === '/secret') response.writeHead(401).end();
    else if (pathname === '/session') sendJson(response, { token: 'first' });
    else sendJson(response, { total: 25, data: items(Number(searchParams.get('offset') ?? 0)) });
  };
  const world = await makeWorld();
  const home = await world.home();
  const database = new SqliteDatabase(join(home.folder, 'shop.db'));
  database.exec('create table orders (id integer primary key, name text)');
  database.close();
  await writeFile(join(home.folder, 'orders.csv'), 'id,name\n1,a\n2,b\n');
  await writeFile(join(home.folder, 'report.csv'), 'Report\nid,name\n1,a\n2,b\n');
  const { url } = server;
  const calls = { kind: 'login_call', call: { path: '/session', body: {} }, token_path: 'token' };
  let count = 0;
  const job = (source: string, query: object, more: object = {}) => ({
    ...{ source, query, format: 'csv', target: { instance: (++count).toString(16).padStart(32, '0') }, ...more },
  });
  const paging = { kind: 'offset', total: 'total' };
  const list = { path: '/orders', records: 'data' };
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: {
      api: { connector: 'simple_rest', url },
      locked: { connector: 'simple_rest', url, auth: { kind: 'bearer', token: 'a-secret-of-40-letters' } },
      calls: { connector: 'simple_rest', url, auth: calls },
      shop: { connector: 'db', driver: 'sqlite', file: 'shop.db' },
      files: { connector: 'file', folder: '.' },
    },
    jobs: {
      pages: job('api', { ...list, paging }, { transforms: [{ select: ['id', 'later'] }] }),
      unpaged: job('api', list),
      posts: job('api', { ...list, method: 'POST', body: {} }),
      secret: job('locked', { path: '/secret' }),
      secret_too: job('locked', { path: '/secret', method: 'get' }),
      session: job('calls', { path: '/secret' }),
      table: job('shop', { sql: 'select id, name from orders' }, { transforms: [{ select: ['nmae'] }] }),
      file: job('files', { path: 'orders.csv' }, { enabled: false }),
      report: job('files', { path: 'report.csv' }, { enabled: false }),
    },
  });
  const check = async (...args: string[]) => {
    server.requests.length = 0;
    const { code, stdout, stderr } = await home.sluice(['check', '--connect', ...args, '--json']);
    expect(stderr).toBe('');
    const { connections } = JSON.parse(stdout) as { connections: Checked[] };
    const asked = server.requests.map(({ method, url: path }) => `${method} ${path}`);
    return { code, stdout, asked, jobs: Object.fromEntries(connections.map(({ name, ...rest }) => [name, rest])) };
  };
  return { home, check, uploads: () => world.uploads() };
}

it('check --connect JOB requests one page, and reports its records, columns and missed pages', async () => {
  const { home, check, uploads } = await makeSources();
  const found = await check('pages', 'unpaged', 'file');
  expect(found.asked.toSorted()).toEqual(['GET /orders', 'GET /orders?offset=0']);
  expect(found.jobs).toEqual({
    pages: {
      kind: 'job',
      ok: true,
      message: 'its query returns 2 columns, and 10 records on the first page; more pages follow',
      columns,
      first_page: { records: 10, has_next: true },
      warnings: [expect.objectContaining({ message: expect.stringMatching(/later.*\(on the first page\)$/) })],
    },
    unpaged: {
      kind: 'job',
      ok: true,
      message: 'its query returns 2 columns, and 10 records on the first page; no other page would be requested',
      columns,
      first_page: { records: 10, has_next: false },
      warnings: [
        expect.objectContaining({
          code: 'REST_MORE_PAGES',
          message: 'The response reports 25 records at `total`, but has 10, and no other page would be requested',
        }),
      ],
    },
    file: {
      ...{ kind: 'job', ok: true, message: 'its query returns 2 columns', warnings: [] },
      columns: columns.map(({ name }) => ({ name, type: 'text' })),
    },
  });
  expect(found.code).toBe(0);

  const { stdout } = await home.sluice(['check', '--connect', 'unpaged']);
  expect(stdout).toContain('unpaged returns:\n  id    integer\n  name  text\n\nwarning REST_MORE_PAGES: ');
  expect(await uploads()).toEqual([]);
});

it("check --connect JOB says how a file differs from the query's options, even if it cannot be read", async () => {
  const { home, check } = await makeSources();
  const { code, jobs } = await check('report');
  expect(code).toBe(1);
  expect(jobs.report).toMatchObject({
    ...{ ok: false, message: expect.stringMatching(/^CSV_RAGGED: /) },
    warnings: [{ code: 'FILE_LOOKS_DIFFERENT', seen: 'skip_rows: 0', next: expect.stringContaining('`skip_rows: 1`') }],
  });
  const { stdout } = await home.sluice(['check', '--connect', 'report']);
  expect(stdout).toMatch(/FILE_LOOKS_DIFFERENT.*`skip_rows: 1`.*CSV_RAGGED/s);
});

it('check --connect JOB sends only GET without --yes, and tries each login once', async () => {
  const { home, check } = await makeSources();
  const refused = await check('posts', 'table');
  expect(refused).toMatchObject({ code: 1, asked: [] });
  expect(refused.jobs.posts).toMatchObject({ ok: false, message: expect.stringMatching(/^PREVIEW_METHOD: .*POST/) });
  expect(refused.jobs.table).toMatchObject({ ok: false, message: expect.stringContaining('nmae') });
  expect((await check('posts', '--yes')).asked).toEqual(['POST /orders']);

  const locked = await check('secret', 'secret_too', 'session');
  expect(locked.code).toBe(3);
  expect(locked.asked.toSorted()).toEqual(['GET /secret', 'GET /secret', 'POST /session']);
  expect(locked.jobs.secret!.message).toMatch(/^REST_LOGIN: /);
  expect(locked.jobs.secret_too!.message).toMatch(/^CHECK_LOGIN_REFUSED: .*job secret /);
  expect(locked.stdout).not.toContain('secret-of-40');

  const alone = await home.sluice(['check', 'pages']);
  expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining('CLI_CHECK_JOBS') });
});
