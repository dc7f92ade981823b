import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import rest from '../../connectors/simple_rest/index.ts';
import { type Problem, renderProblem } from '../../src/lib/problem.ts';
import { forgetSecrets } from '../../src/lib/redact.ts';
import { batchText } from '../../src/sdk/index.ts';
import { TestLogin } from './doubles/logins.ts';
import { contextOf } from './harness.ts';
import { sendJson, TestServer } from './http-server.ts';

let server: TestServer;
let folder = '';
beforeEach(async () => {
  server = await new TestServer().start();
  folder = await mkdtemp(join(tmpdir(), 'sluice-rest-'));
});
afterEach(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
  forgetSecrets();
});

interface More {
  readonly source?: Record<string, unknown>;
  readonly watermark?: string;
  readonly timezone?: string;
  readonly logicalAt?: number;
  readonly login?: TestLogin;
}

async function extract(query: Record<string, unknown>, { source = {}, ...more }: More = {}) {
  const context = { ...contextOf(rest, { source: { url: server.url, ...source }, query, folder }), ...more };
  const { columns, batches, watermark, unchanged } = await rest.extract(context);
  const rows: (string | null)[][] = [];
  for await (const batch of batches) rows.push(...batchText(batch));
  return { columns, rows, watermark: watermark?.(), unchanged: unchanged?.() ?? false };
}

const asked = () =>
  server.requests.map(({ method, url, body }) => [method, url, body].filter((one) => one !== '').join(' '));
const ids = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: from + i }));
const numbers = (from: number, to: number) => ids(from, to).map(({ id }) => [String(id)]);
const faults = (query: Record<string, unknown>, source: Record<string, unknown> = { url: 'https://h/' }) => {
  const context = contextOf(rest, { source, query, folder });
  return (rest.validate?.({ source: context.source, query: context.query }) ?? []).map(({ option }) => option);
};

test('dates in templates are reckoned in the zone of the job', async () => {
  server.answer = (_, response) => sendJson(response, []);
  const zone = 'Pacific/Kiritimati';
  const day = Temporal.Now.plainDateISO(zone);
  await extract(
    {
      path: '/d/{{ today | format: YYYYMMDD }}',
      parameters: [
        { name: 'since', value: '{{ today - 7d }}' },
        { name: 'month', value: '{{ month_start - 1mo | format: YYYY-MM }}' },
      ],
      method: 'POST',
      body: { from: '{{ yesterday }}', size: 5, list: ['{{ year_start }}'] },
    },
    { timezone: zone },
  );
  const month = day.with({ day: 1 }).subtract({ months: 1 }).toString().slice(0, 7);
  const path = `/d/${day.toString().replaceAll('-', '')}?since=${day.subtract({ days: 7 })}&month=${month}`;
  const body = {
    from: day.subtract({ days: 1 }).toString(),
    size: 5,
    list: [day.with({ month: 1, day: 1 }).toString()],
  };
  expect(asked()).toEqual([`POST ${path} ${JSON.stringify(body)}`]);
});

test('dates in templates are those of the instant that a run stands for', async () => {
  server.answer = (_, response) => sendJson(response, []);
  const logicalAt = Date.parse('2026-03-01T23:30Z');
  const query = { path: '/d?on={{ today }}&at={{ now }}&from={{ window.from }}', window: { start: '{{ yesterday }}' } };
  await extract(query, { timezone: 'Europe/Berlin', logicalAt });
  expect(asked()).toEqual(['GET /d?on=2026-03-02&at=2026-03-01T23%3A30%3A00Z&from=2026-03-01']);
});

test('an answer is asked for span by span, without days that stand in two of them', async () => {
  server.answer = ({ searchParams }, response) => sendJson(response, [{ day: searchParams.get('from') }]);
  const window = { start: '2026-01-01', end: '2026-01-05', step: '2d' };
  const query = { path: '/x?from={{ window.from }}&to={{ window.to }}', window };
  expect((await extract(query)).rows).toEqual([['2026-01-01'], ['2026-01-03'], ['2026-01-05']]);
  await extract({ ...query, window: { ...window, step: '1mo', bound: 'outside' } });
  expect(asked()).toEqual([
    'GET /x?from=2026-01-01&to=2026-01-02',
    'GET /x?from=2026-01-03&to=2026-01-04',
    'GET /x?from=2026-01-05&to=2026-01-05',
    'GET /x?from=2026-01-01&to=2026-01-06',
  ]);
});

test('the same rows in two spans are no page that came twice', async () => {
  server.answer = (_, response) => sendJson(response, ids(0, 2));
  const query = { path: '/x?from={{ window.from }}', window: { start: '2026-01-01', end: '2026-01-02', step: '1d' } };
  expect((await extract(query)).rows).toEqual([...numbers(0, 2), ...numbers(0, 2)]);
});

test('pages are asked for in the body, in the path or in a header, where the request says so', async () => {
  server.answer = ({ pathname }, response) => {
    const { body, headers } = server.requests.at(-1)!;
    const page = pathname.startsWith('/path/')
      ? Number(pathname.slice(6))
      : Number(headers['x-page'] ?? JSON.parse(body || '{}').at ?? 0);
    sendJson(response, {
      rows: ids(page * 2, Math.min(5, page * 2 + 2)),
      meta: { pages: 3, next: page < 2 ? page + 1 : null },
    });
  };
  const paging = { kind: 'page', first: 0, pages: 'meta.pages' };
  const header = [{ name: 'X-Page', value: '{{ page.number }}', type: 'header' }];
  for (const query of [
    { path: '/path/{{ page.number }}', paging },
    { paging, parameters: header },
    { method: 'POST', body: { at: '{{ page.number }}', of: 'all' }, paging },
    { method: 'POST', body: { at: '{{ page.token | number }}' }, paging: { kind: 'cursor', cursor: 'meta.next' } },
  ]) {
    server.requests.length = 0;
    expect((await extract({ records: 'rows', ...query })).rows).toEqual(numbers(0, 5));
    expect(server.requests.length).toBe(3);
  }
  expect(asked()).toEqual(['POST / {}', 'POST / {"at":1}', 'POST / {"at":2}']);
});

test.each([
  [{ more: 'more' }, (n: number) => ({ more: n < 3 })],
  [{ last: 'last' }, (n: number) => ({ last: n === 3 })],
  [{ total: 'total' }, () => ({ total: 6 })],
  [{ pages: 'pages' }, () => ({ pages: 3 })],
])('pages end where the answer says so: %j', async (stop, said) => {
  server.answer = (_, response, n) => sendJson(response, { rows: ids(n * 2, n * 2 + 2), ...said(n) });
  expect((await extract({ records: 'rows', paging: { kind: 'page', ...stop } })).rows).toEqual(numbers(2, 8));
});

test('headers of the answer become columns in front', async () => {
  server.answer = (_, response, n) =>
    sendJson(response, n < 3 ? ids(n, n + 1) : [], n === 1 ? { 'x-version': 'v7' } : {});
  const query = { paging: { kind: 'page' }, header_columns: { version: 'X-Version' } };
  const { columns, rows } = await extract(query);
  expect(columns.map(({ name }) => name)).toEqual(['version', 'id']);
  expect(rows).toEqual([
    ['v7', '1'],
    [null, '2'],
  ]);
});

test('data that has not changed is not sent again: the next run asks with what the last answer said', async () => {
  server.answer = (_, response) => {
    const { headers } = server.requests.at(-1)!;
    const same =
      headers['if-none-match'] === '"v1"' || headers['if-modified-since'] === 'Thu, 01 Jan 2026 00:00:00 GMT';
    if (same) response.writeHead(304, { etag: '"v1"' }).end();
    else sendJson(response, ids(0, 2), { etag: '"v1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' });
  };
  const query = { path: '/x', conditional: true };
  const first = await extract(query);
  expect(first).toMatchObject({ rows: numbers(0, 2), unchanged: false });
  expect(await extract(query, { watermark: first.watermark! })).toMatchObject({ rows: [], unchanged: true });
  expect(await extract({ ...query, path: '/y' }, { watermark: first.watermark! })).toMatchObject({ unchanged: false });
  expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"v1"', undefined]);
  const plain = await extract({ path: '/x' }, { watermark: first.watermark! });
  expect(plain).toMatchObject({ rows: numbers(0, 2), watermark: undefined });
});

test('a server that says that nothing is left is not asked before it has forgotten', async () => {
  const begun: number[] = [];
  server.answer = (_, response, n) => {
    begun.push(performance.now());
    const reset = n === 1 ? '1' : String(Date.now() / 1000 + 0.3);
    const headers =
      n === 1
        ? { 'ratelimit-remaining': '0', 'ratelimit-reset': reset }
        : { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
    sendJson(response, n < 3 ? ids(n, n + 1) : [], headers);
  };
  await extract({ paging: { kind: 'page' } });
  // Bounds from below are no measurement: a slow machine only adds to them.
  expect(begun[1]! - begun[0]!).toBeGreaterThan(950);
  expect(begun[2]! - begun[1]!).toBeGreaterThan(200);
});

test('a token from the runner is sent, and asked for anew when it is refused', async () => {
  server.answer = (_, response) => {
    const { authorization } = server.requests.at(-1)!.headers;
    if (authorization === 'Bearer token-2') sendJson(response, ids(0, 1));
    else response.writeHead(401).end();
  };
  const auth = {
    kind: 'client_credentials',
    token_url: 'https://id.example/token',
    scopes: ['read'],
    client_authentication: 'basic',
  };
  const login = new TestLogin();
  expect((await extract({}, { source: { auth }, login })).rows).toEqual(numbers(0, 1));
  expect(login.refusals).toEqual(['token-1']);
  expect(rest.oauth?.(contextOf(rest, { source: { auth }, query: {}, folder }).source)).toEqual({
    grants: ['client_credentials'],
    token_url: 'https://id.example/token',
    refresh: 'none',
    scopes: ['read'],
    client_authentication: 'basic',
  });
  expect(rest.oauth?.(contextOf(rest, { source: {}, query: {}, folder }).source)).toBeUndefined();
});

test('a login call gives the token, a session that ends is opened again, and closed at the end', async () => {
  let sessions = 0;
  server.answer = ({ pathname, searchParams }, response) => {
    const { body, headers } = server.requests.at(-1)!;
    if (pathname === '/login')
      return sendJson(response, { data: { token: `session-${++sessions}-${JSON.parse(body).password.length}` } });
    if (pathname === '/logout') return void response.writeHead(204).end();
    if (headers['x-session'] !== `session-${sessions}-8` || (sessions === 1 && searchParams.get('page') === '2')) {
      return void response.writeHead(401).end();
    }
    return sendJson(
      response,
      searchParams.get('page') === '3'
        ? []
        : ids(Number(searchParams.get('page')), Number(searchParams.get('page')) + 1),
    );
  };
  const auth = {
    kind: 'login_call',
    call: { path: '/login', body: { user: 'ann', password: 'hunter22' } },
    token_path: 'data.token',
    name: 'X-Session',
    logout: { path: '/logout', method: 'POST' },
  };
  expect((await extract({ paging: { kind: 'page' } }, { source: { auth } })).rows).toEqual(numbers(1, 3));
  expect(sessions).toBe(2);
  expect(asked().at(-1)).toBe('POST /logout');
  server.answer = (_, response) => void response.writeHead(400).end('hunter22 is no password');
  const problem = await extract({}, { source: { auth } }).catch((error: unknown) => error as Problem);
  expect(renderProblem(problem as Problem)).not.toContain('hunter22');
});

test('what cannot go together is told before anything is sent', () => {
  const window = { start: '2026-01-01' };
  expect(faults({ path: '/{{ window.from }}', window })).toEqual([]);
  expect(faults({ path: '/x', window })).toEqual(['window']);
  expect(faults({ path: '/{{ window.from }}', window: { start: 'soon' } })).toEqual(['window']);
  expect(faults({ path: '/{{ window.from }}' })).toEqual(['path']);
  expect(faults({ path: '/{{ today | shout }}' })).toEqual(['path']);
  expect(faults({ method: 'POST', body: { a: ['{{ tomorow }}'] } })).toEqual(['body']);
  expect(faults({ conditional: true, paging: { kind: 'page' } })).toEqual(['conditional']);
  expect(faults({}, { url: 'https://h', auth: { kind: 'client_credentials' } })).toEqual(['auth']);
  expect(faults({}, { url: 'https://h', auth: { kind: 'login_call' } })).toEqual(['auth', 'auth']);
  expect(faults({ paging: { kind: 'page', total: 'meta.total' } })).toEqual(['records']);
});

test('a page that a server shows instead of data is told by its words', async () => {
  const page =
    '<!DOCTYPE html><html><head><style>p{color:red}</style><title>No such page</title></head><p>Ask <b>Ann</b>.</p>';
  server.answer = (_, response) => void response.writeHead(404, { 'content-type': 'text/html' }).end(page);
  await expect(extract({})).rejects.toMatchObject({
    code: 'REST_NOT_FOUND',
    seen: 'status 404: a page: No such page Ask Ann .',
    next: 'look at `path` or `endpoint_url`, and at `url` of the source',
  });
});

test('a hundred thousand records over a thousand pages are read inside a heap of 24 MB', async () => {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('page'));
    sendJson(response, ids((page - 1) * 100, page > 1000 ? 0 : page * 100));
  };
  const child = fileURLToPath(new URL('reader-child.ts', import.meta.url));
  const query = JSON.stringify({ paging: { kind: 'page' }, max_pages: 1001 });
  const args = ['--max-old-space-size=24', child, server.url, query];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  expect(JSON.parse(stdout)).toEqual({ rows: 100_000, sum: 4_999_950_000 });
});
