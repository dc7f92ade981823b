import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import rest, { fetchDatasource } from '../../connectors/simple_rest/index.ts';
import { type Problem, renderProblem } from '../../src/lib/problem.ts';
import { forgetSecrets } from '../../src/lib/redact.ts';
import { nextLink } from '../../src/sdk/http/link-header.ts';
import { retryAfterMs } from '../../src/sdk/http/retry.ts';
import { contextOf, extractTable } from './harness.ts';
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

const extract = (query: Record<string, unknown>, source: Record<string, unknown> = {}) =>
  extractTable(rest, { source: { url: server.url, ...source }, query, folder });
const failure = (query: Record<string, unknown>, source: Record<string, unknown> = {}) =>
  extract(query, source).then(
    () => {
      throw new Error('nothing was refused');
    },
    (error: unknown) => error as Problem,
  );
const asked = () => server.requests.map(({ url }) => url);
const ids = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: from + i }));
const numbers = (from: number, to: number) => ids(from, to).map(({ id }) => [String(id)]);

test('the path stands behind the base address, parameters go into the query, those of type header into headers', async () => {
  server.answer = (_, response) => sendJson(response, [{ id: 1 }]);
  const parameters = [
    { name: 'since', value: '2026-01-01 & more', type: 'query' },
    { name: 'limit', value: 5 },
    { name: 'X-Team', value: 'blue', type: 'header' },
  ];
  for (const given of [parameters, JSON.stringify(parameters)]) {
    await extract({ path: '/orders?status=open', parameters: given }, { url: `${server.url}/v2/?v=1` });
  }
  expect(asked()).toEqual(Array(2).fill('/v2/orders?v=1&status=open&since=2026-01-01+%26+more&limit=5'));
  expect(server.requests.map(({ headers }) => headers['x-team'])).toEqual(['blue', 'blue']);
  await expect(extract({ parameters: 'a=1' })).rejects.toMatchObject({ code: 'REST_PARAMETERS', family: 'config' });
});

test('a body that is no text is sent as JSON, a text as it is, with the method as it is meant', async () => {
  server.answer = (_, response) => sendJson(response, [{ id: 1 }]);
  await extract({ method: 'post', body: { q: 'ü' } });
  await extract({
    method: 'POST',
    body: 'plain',
    parameters: [{ name: 'Content-Type', value: 'text/x', type: 'header' }],
  });
  expect(server.requests).toMatchObject([
    { method: 'POST', body: '{"q":"ü"}', headers: { 'content-type': 'application/json' } },
    { method: 'POST', body: 'plain', headers: { 'content-type': 'text/x' } },
  ]);
});

test.each([
  [
    { kind: 'basic', user: 'ann', password: 'pä:ss' },
    { authorization: `Basic ${Buffer.from('ann:pä:ss').toString('base64')}` },
    '/',
  ],
  [{ kind: 'bearer', token: 'tok-12345' }, { authorization: 'Bearer tok-12345' }, '/'],
  [{ kind: 'key', name: 'X-Key', value: 'key-12345' }, { 'x-key': 'key-12345' }, '/'],
  [{ kind: 'key', name: 'key', value: 'key-12345', in: 'query' }, {}, '/?key=key-12345'],
])('credentials of kind %j arrive', async (auth, headers, url) => {
  server.answer = (_, response) => sendJson(response, [{ id: 1 }]);
  await extract({}, { auth });
  expect(server.requests).toMatchObject([{ url, headers }]);
});

test('csv and xml answers are known by their content type, and its charset counts', async () => {
  server.answer = ({ pathname }, response) => {
    const isCsv = pathname === '/csv';
    response.setHeader('content-type', isCsv ? 'text/csv; charset=iso-8859-1' : 'application/atom+xml');
    response.end(isCsv ? Buffer.from('a,b\nM\xfcller,\n', 'latin1') : '<r><i><a>x</a></i></r>');
  };
  expect((await extract({ path: 'csv' })).rows).toEqual([['Müller', null]]);
  expect((await extract({ path: 'xml' })).rows).toEqual([['x']]);
});

test('an answer that is no data is refused with its content type, unless the format is given', async () => {
  server.answer = (_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('[{"id":1}]');
  };
  expect(await failure({ path: 'x' })).toMatchObject({ code: 'REST_FORMAT', seen: 'text/html' });
  expect((await extract({ path: 'x', format: 'json' })).rows).toEqual([['1']]);
  expect((await extract({ path: 'x.json' })).rows).toEqual([['1']]);
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)('an answer packed with %s is unpacked', async (name, pack) => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': name });
    response.end(pack(Buffer.from('[{"id":1}]')));
  };
  expect((await extract({})).rows).toEqual([['1']]);
});

test('page numbers go on until a page is empty, also where the server gives fewer than asked', async () => {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('p'));
    sendJson(response, { rows: ids(page * 3, page < 4 ? page * 3 + 3 : 0) });
  };
  const paging = { kind: 'page', parameter: 'p', first: 0, size_parameter: 'n', size: 100 };
  expect((await extract({ records: 'rows', paging })).rows).toEqual(numbers(0, 12));
  expect(asked().at(-1)).toBe('/?n=100&p=4');
});

test('with stop_at short, the first page below its size is the last', async () => {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('page'));
    if (page > 2) response.writeHead(404).end();
    else sendJson(response, ids(page * 10, page * 10 + (page === 2 ? 4 : 5)));
  };
  const paging = { kind: 'page', size_parameter: 'size', size: 5, stop_at: 'short' };
  expect((await extract({ paging })).rows).toEqual([...numbers(10, 15), ...numbers(20, 24)]);
});

test('offsets move on by what came, not by what was asked for', async () => {
  server.answer = ({ searchParams }, response) => {
    const from = Number(searchParams.get('skip'));
    sendJson(response, ids(from, Math.min(from + 3, 8)));
  };
  const paging = { kind: 'offset', parameter: 'skip', size_parameter: 'limit', size: 100 };
  expect((await extract({ paging })).rows).toEqual(numbers(0, 8));
  expect(asked()).toEqual([0, 3, 6, 8].map((skip) => `/?limit=100&skip=${skip}`));
});

test('cursors are followed to the end, through pages without records', async () => {
  const pages: Record<string, unknown> = {
    '': { data: ids(0, 2), meta: { next: 'ä=&1' } },
    'ä=&1': { data: [], meta: { next: 7 } },
    '7': { meta: { next: null }, data: ids(2, 3) },
  };
  server.answer = ({ searchParams }, response) => sendJson(response, pages[searchParams.get('after') ?? '']);
  const paging = { kind: 'cursor', cursor: 'meta.next', parameter: 'after' };
  expect((await extract({ records: 'data', paging })).rows).toEqual(numbers(0, 3));
  const columns = [{ name: 'id', type: 'integer' }];
  expect((await extract({ records: 'data', paging, columns })).rows).toEqual(numbers(0, 3));
});

test('next links are followed, relative ones too, with the headers of the first request', async () => {
  server.answer = ({ pathname }, response) =>
    sendJson(response, pathname === '/a' ? { v: ids(0, 1), '@odata.nextLink': 'b?x=1' } : { v: ids(1, 2) });
  const paging = { kind: 'next_link', path: '@odata.nextLink' };
  const auth = { kind: 'bearer', token: 'tok-12345' };
  expect((await extract({ path: 'a', records: 'v', paging }, { auth })).rows).toEqual(numbers(0, 2));
  expect(asked()).toEqual(['/a', '/b?x=1']);
  expect(server.requests[1]!.headers.authorization).toBe('Bearer tok-12345');
});

test('Link headers are followed while they name a next page', async () => {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('page') ?? 1);
    const link = `<${server.url}/?page=9>; rel="last", </?page=${page + 1}>; title="a, b"; rel="prefetch next"`;
    sendJson(response, ids(page, page + 1), page < 3 ? { link } : {});
  };
  expect((await extract({ paging: { kind: 'link_header' } })).rows).toEqual(numbers(1, 4));
});

test('every page is a sign of life for whoever waits for the first row', async () => {
  server.answer = ({ searchParams }, response) =>
    sendJson(response, ids(0, searchParams.get('page') === '3' ? 0 : Number(searchParams.get('page'))));
  let signs = 0;
  const context = contextOf(rest, { source: { url: server.url }, query: { paging: { kind: 'page' } }, folder });
  await rest.extract({ ...context, alive: () => void signs++ });
  expect(signs).toBe(3);
});

test('the columns of all pages are one table', async () => {
  server.answer = ({ searchParams }, response) => {
    const pages: Record<string, unknown> = { '1': [{ a: 1 }], '2': [{ b: 'x', a: 2.5 }] };
    sendJson(response, pages[searchParams.get('page')!] ?? []);
  };
  expect(await extract({ paging: { kind: 'page' } })).toEqual({
    columns: [
      { name: 'a', type: 'decimal' },
      { name: 'b', type: 'text' },
    ],
    rows: [
      ['1', null],
      ['2.5', 'x'],
    ],
  });
});

test('csv pages are read as one table; an empty body is the end', async () => {
  server.answer = ({ searchParams }, response) => {
    response.setHeader('content-type', 'text/csv');
    response.end(
      searchParams.get('page') === '1' ? 'a,b\n1,2\n' : searchParams.get('page') === '2' ? 'b,a\n4,3\n' : '',
    );
  };
  expect((await extract({ paging: { kind: 'page' } })).rows).toEqual([
    ['1', '2'],
    ['3', '4'],
  ]);
});

test('a server that ignores the paging parameter is noticed by the page that comes twice', async () => {
  server.answer = (_, response) => sendJson(response, ids(0, 5));
  expect(await failure({ paging: { kind: 'page' } })).toMatchObject({ code: 'REST_PAGES_REPEAT', family: 'job' });
  expect(server.requests.length).toBe(2);
});

test.each([
  [{ kind: 'next_link', path: 'next' }, (n: number) => (n % 2 === 0 ? '/?x=1' : '/?x=2')],
  [{ kind: 'cursor', cursor: 'next' }, (n: number) => `c${n % 3}`],
])('pages that lead in circles are refused: %j', async (paging, next) => {
  server.answer = (_, response, number) => sendJson(response, { rows: [{ number }], next: next(number) });
  expect(await failure({ records: 'rows', paging })).toMatchObject({ code: 'REST_PAGES_REPEAT' });
  expect(server.requests.length).toBeLessThan(5);
});

test('more pages than allowed are an error, exactly as many are not', async () => {
  server.answer = ({ searchParams }, response) =>
    sendJson(response, ids(Number(searchParams.get('page')), searchParams.get('page') === '4' ? 0 : 99));
  const paging = { kind: 'page' };
  expect(await failure({ paging, max_pages: 3 })).toMatchObject({ code: 'REST_MAX_PAGES', family: 'job' });
  await extract({ paging, max_pages: 4 });
});

test('a next link to another origin is refused, or followed without credentials where it is listed', async () => {
  const other = await new TestServer().start();
  try {
    other.answer = (_, response) => sendJson(response, { v: ids(1, 2) });
    server.answer = (_, response) => sendJson(response, { v: ids(0, 1), next: `${other.url}/more?t=1` });
    const query = {
      records: 'v',
      paging: { kind: 'next_link', path: 'next' },
      parameters: [{ name: 'x-own', value: 'secret-own', type: 'header' }],
    };
    const source = {
      auth: { kind: 'key', name: 'k', value: 'key-12345', in: 'query' },
      headers: { cookie: 'session=abcdef' },
    };
    expect(await failure(query, source)).toMatchObject({ code: 'REST_ORIGIN', seen: `${other.url}/more` });
    expect(other.requests).toEqual([]);
    expect((await extract(query, { ...source, other_origins: [other.url] })).rows).toEqual(numbers(0, 2));
    expect(JSON.stringify(other.requests)).not.toMatch(/key-12345|abcdef|secret-own/);
    expect(other.requests.map(({ url }) => url)).toEqual(['/more?t=1']);
  } finally {
    await other.stop();
  }
});

test('redirects are followed at home, and refused abroad', async () => {
  server.answer = ({ pathname }, response) => {
    if (pathname === '/new') return sendJson(response, ids(0, 1));
    response
      .writeHead(302, {
        location: pathname === '/old' ? '/new' : pathname === '/loop' ? '/loop' : 'http://localhost:1/x',
      })
      .end();
  };
  expect((await extract({ path: 'old' })).rows).toEqual(numbers(0, 1));
  expect(await failure({ path: 'away' })).toMatchObject({ code: 'REST_ORIGIN' });
  expect(await failure({ path: 'loop' })).toMatchObject({ code: 'REST_REDIRECTS' });
});

test.each([429, 500, 502, 503, 504])(
  'status %d is asked again, after the pause that the server names',
  async (status) => {
    server.answer = (_, response, number) => {
      if (number > 1) return sendJson(response, ids(0, 1));
      response.writeHead(status, { 'retry-after': '0' }).end('busy');
    };
    expect((await extract({})).rows).toEqual(numbers(0, 1));
    expect(server.requests.length).toBe(2);
  },
);

test('retries end, and what the server asked for is handed on', async () => {
  server.answer = (_, response) => void response.writeHead(503, { 'retry-after': '0' }).end('maintenance until noon');
  expect(await failure({}, { retries: 2 })).toMatchObject({
    code: 'REST_BUSY',
    family: 'try_later',
    seen: 'status 503: maintenance until noon',
  });
  expect(server.requests.length).toBe(3);
  server.answer = (_, response) => void response.writeHead(429, { 'retry-after': '3600' }).end();
  expect(await failure({})).toMatchObject({ family: 'try_later', retryAfterMs: 3_600_000 });
  expect(server.requests.length).toBe(4);
});

test('Retry-After is read as seconds and as an HTTP date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(retryAfterMs('120', now)).toBe(120_000);
  expect(retryAfterMs('Thu, 01 Jan 2026 00:00:30 GMT', now)).toBe(30_000);
  expect(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
  expect([retryAfterMs('soon', now), retryAfterMs(undefined, now)]).toEqual([undefined, undefined]);
});

const cuts: Record<string, (response: import('node:http').ServerResponse) => void> = {
  'announces more bytes than it sends': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100', connection: 'close' });
    response.write('[{"id":1}]', () => response.socket?.end());
  },
  'resets the connection': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('[{"id":1}]', () => response.socket?.resetAndDestroy());
  },
  'ends its chunks without the last one': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('[{"id":1}]', () => response.socket?.end());
  },
  'cuts the packed stream': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync('[{"id":1}]').subarray(0, -4));
  },
};

test.each(Object.entries(cuts))('an answer that %s is never an end: it is asked for again', async (_, cut) => {
  server.answer = (_url, response, number) => (number === 1 ? cut(response) : sendJson(response, ids(5, 7)));
  expect((await extract({})).rows).toEqual(numbers(5, 7));
  server.answer = (_url, response) => cut(response);
  expect(await failure({}, { retries: 0 })).toMatchObject({
    code: 'REST_UNREACHABLE',
    family: 'try_later',
    next: expect.stringContaining('asked again by itself'),
  });
});

test('JSON that ends too early inside a complete answer is refused', async () => {
  server.answer = (_, response) => sendJson(response, '[{"id":1},');
  expect(await failure({})).toMatchObject({ code: 'JSON_TRUNCATED', message: expect.stringContaining('page 1') });
});

test('an answer that stalls, and one that drips for ever, run out of time', async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('[');
  };
  expect(await failure({}, { retries: 0, timeout_seconds: 0.2 })).toMatchObject({
    code: 'REST_UNREACHABLE',
    seen: 'UND_ERR_BODY_TIMEOUT',
  });
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  };
  expect(await failure({}, { retries: 0, answer_seconds: 0.3 })).toMatchObject({
    code: 'REST_UNREACHABLE',
    message: expect.stringContaining('too long'),
  });
});

test('a server that is not there is a reason to try later', async () => {
  const gone = await new TestServer().start();
  const { url } = gone;
  await gone.stop();
  expect(await failure({}, { url, retries: 0 })).toMatchObject({
    code: 'REST_UNREACHABLE',
    family: 'try_later',
    seen: 'ECONNREFUSED',
  });
});

test.each([
  [401, 'REST_LOGIN', 'login'],
  [403, 'REST_LOGIN', 'login'],
  [404, 'REST_NOT_FOUND', 'job'],
  [400, 'REST_REFUSED', 'job'],
  [422, 'REST_REFUSED', 'job'],
  [501, 'REST_REFUSED', 'job'],
])('status %d is %s and is not asked again', async (status, code, family) => {
  server.answer = (_, response) => void response.writeHead(status).end('{"error": "no\n such thing"}');
  expect(await failure({ path: 'x' })).toMatchObject({
    code,
    family,
    seen: `status ${status}: {"error": "no such thing"}`,
  });
  expect(server.requests.length).toBe(1);
});

test('no credential stands in an error, even where the server repeats it', async () => {
  server.answer = ({ href }, response) =>
    void response.writeHead(400).end(`you sent ${href} with ${server.requests.at(-1)!.headers.authorization}`);
  const password = 'hunter2-hunter2';
  const first = await failure({}, { auth: { kind: 'basic', user: 'ann', password } });
  const key = 'key-0123456789';
  const second = await failure({}, { auth: { kind: 'key', name: 'k', value: key, in: 'query' } });
  server.answer = (_, response) => void response.writeHead(400).end(JSON.stringify(server.requests.at(-1)));
  const hidden = ['header-secret-1', 'parameter-secret-2', 'query-secret-3'];
  const parameters = [
    { name: 'X-Api-Key', value: hidden[1]!, type: 'header' },
    { name: 'access_token', value: hidden[2]!, type: 'query' },
  ];
  const third = await failure({ parameters }, { headers: { 'x-session': hidden[0]! } });
  for (const secret of hidden) expect(renderProblem(third)).not.toContain(secret);
  const shown = [first, second].map((problem) => renderProblem(problem) + problem.message).join();
  expect(shown).not.toContain(password);
  expect(shown).not.toContain(Buffer.from(`ann:${password}`).toString('base64'));
  expect(shown).not.toContain(key);
  expect(shown).toContain('[redacted]');
});

test('an answer beyond the limit is refused, packed ones by what comes out', async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify(ids(0, 50_000))));
  };
  expect(await failure({}, { max_answer_bytes: 100_000 })).toMatchObject({ code: 'REST_TOO_LARGE', family: 'job' });
});

test('no content is a table without rows', async () => {
  server.answer = (_, response) => void response.writeHead(204).end();
  expect(await extract({})).toEqual({ columns: [], rows: [] });
  expect(await extract({ columns: [{ name: 'a', type: 'date' }] })).toEqual({
    columns: [{ name: 'a', type: 'date' }],
    rows: [],
  });
});

test('a run that is stopped throws the reason, also in the pause before a retry', async () => {
  const stop = new AbortController();
  const reason = new Error('stopped by the test');
  server.answer = (_, response) => {
    response.writeHead(503, { 'retry-after': '30' }).end();
    setTimeout(() => stop.abort(reason), 50);
  };
  const context = contextOf(rest, { source: { url: server.url }, query: {}, folder, signal: stop.signal });
  await expect(rest.extract(context)).rejects.toBe(reason);
});

test('a run that is stopped while it reads its rows throws the reason', async () => {
  server.answer = (_, response) => sendJson(response, ids(0, 200_000));
  const stop = new AbortController();
  const reason = new Error('stopped by the test');
  const context = contextOf(rest, { source: { url: server.url }, query: {}, folder, signal: stop.signal });
  const { batches } = await rest.extract(context);
  const reading = (async () => {
    for await (const _ of batches) stop.abort(reason);
  })();
  await expect(reading).rejects.toBe(reason);
});

test('a hundred thousand records over many pages arrive whole, from the disk', async () => {
  server.answer = ({ searchParams }, response) => {
    const from = Number(searchParams.get('offset'));
    sendJson(response, { items: ids(from, Math.min(from + 10_000, 100_000)) });
  };
  const { rows } = await extract({ records: 'items', paging: { kind: 'offset' } });
  expect(rows.length).toBe(100_000);
  expect(rows.every(([id], i) => id === String(i))).toBe(true);
  expect((await readFile(join(folder, 'answers.spool'))).length).toBeGreaterThan(1_000_000);
});

test('an answer of a million records is read inside a heap of 24 MB', async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    Readable.from(millionRecords()).pipe(response);
  };
  const child = fileURLToPath(new URL('reader-child.ts', import.meta.url));
  const args = ['--max-old-space-size=24', child, server.url];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 50_000 });
  expect(JSON.parse(stdout)).toEqual({ rows: 1_000_000, sum: 499_999_500_000 });
});

function* millionRecords(): Generator<string> {
  for (let from = 0; from < 1_000_000; from += 1000) {
    const records = ids(from, from + 1000).map(({ id }) => `{"id":${id},"name":"Jürgen ${id}","note":null}`);
    yield `${from === 0 ? '[' : ','}${records.join()}`;
  }
  yield ']';
}

test('a certificate is trusted through ca_file alone', async () => {
  const args = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=IP:127.0.0.1',
  ];
  execFileSync('openssl', [...args, '-keyout', join(folder, 'key.pem'), '-out', join(folder, 'ca.pem')], {
    stdio: 'ignore',
  });
  const [key, cert] = await Promise.all(['key.pem', 'ca.pem'].map((name) => readFile(join(folder, name))));
  const secure = createServer({ key, cert }, (_, response) => sendJson(response, ids(0, 1)));
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  try {
    const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
    expect(await failure({}, { url })).toMatchObject({ code: 'REST_TLS', family: 'job' });
    expect((await extract({}, { url, ca_file: 'ca.pem' })).rows).toEqual(numbers(0, 1));
    expect(await failure({}, { url, ca_file: 'none.pem' })).toMatchObject({ code: 'REST_CA_FILE', family: 'config' });
  } finally {
    secure.closeAllConnections();
    await new Promise((resolve) => secure.close(resolve));
  }
});

test('check says what answers at the base address, and what does not', async () => {
  const check = (source: Record<string, unknown>) => rest.check(contextOf(rest, { source, query: {}, folder }));
  server.answer = (_, response) => sendJson(response, {});
  expect(await check({ url: server.url })).toBe(`${server.url}/ answers with status 200 and application/json`);
  server.answer = (_, response) => void response.writeHead(404).end();
  expect(await check({ url: server.url })).toContain('is reached');
  server.answer = (_, response) => void response.writeHead(401).end();
  await expect(check({ url: server.url })).rejects.toMatchObject({ family: 'login' });
  expect(await check({})).toContain('no base address');
  expect(server.requests.length).toBe(3);
});

test('options that cannot go together are told before anything is sent', () => {
  const faults = (query: Record<string, unknown>, source: Record<string, unknown> = { url: 'https://h/' }) => {
    const context = contextOf(rest, { source, query, folder });
    return (rest.validate?.({ source: context.source, query: context.query }) ?? []).map(({ option }) => option);
  };
  expect(faults({})).toEqual([]);
  expect(faults({}, {})).toEqual(['path']);
  expect(faults({ path: 'https://h/a' })).toEqual(['path']);
  expect(faults({ path: 'a', endpoint_url: 'https://h/a' })).toEqual(['endpoint_url']);
  expect(faults({ endpoint_url: 'https://i/a' }, { url: 'https://h', auth: { kind: 'bearer', token: 'x' } })).toEqual([
    'endpoint_url',
  ]);
  expect(faults({}, { url: 'https://h', auth: { kind: 'key', name: 'k' } })).toEqual(['auth']);
  expect(faults({ body: 'x' })).toEqual(['body']);
  expect(faults({ parameters: '{"a":1}' })).toEqual(['parameters']);
  expect(faults({ records: 'r', paging: { kind: 'cursor' } })).toEqual(['paging']);
  expect(faults({ paging: { kind: 'next_link', path: 'n' } })).toEqual(['records']);
  expect(faults({ records: 'r', format: 'csv', paging: { kind: 'next_link', path: 'n' } })).toEqual(['paging']);
  expect(faults({ paging: { kind: 'page', stop_at: 'short' } })).toEqual(['paging']);
});

test.each([
  ['<a>; rel=next', 'a'],
  ['<a,b;c>; rel="prev", <d>; x="\\"<e>; rel=next"; rel="Next"', 'd'],
  ['<a>; rel="nextish"', undefined],
  ['<a>; rel=prev', undefined],
  ['', undefined],
])('the next link of %j is %j', (header, expected) => {
  expect(nextLink(header)).toBe(expected);
});

test('a data source as the service stores it is fetched raw', async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(gzipSync('any \u0000 bytes'));
  };
  const limits = { signal: new AbortController().signal, timeoutMs: 5000, maxBytes: 1000 };
  const parameters = '[{"name":"a","value":"1","type":"query"},{"name":"X-A","value":"2","type":"header"}]';
  const properties = { endpoint_url: `${server.url}/x?b=0`, method: 'get', parameters };
  const bytes = async (given = limits) =>
    Buffer.concat(await Array.fromAsync(fetchDatasource(properties, given))).toString();
  expect(await bytes()).toBe('any \u0000 bytes');
  expect(server.requests).toMatchObject([{ method: 'GET', url: '/x?b=0&a=1', headers: { 'x-a': '2' } }]);
  await expect(bytes({ ...limits, maxBytes: 5 })).rejects.toMatchObject({ code: 'REST_TOO_LARGE' });
  server.answer = (_, response) => void response.writeHead(500).end();
  await expect(bytes()).rejects.toMatchObject({ code: 'REST_BUSY' });
  const nowhere = fetchDatasource({ endpoint_url: 'file:///etc/passwd' }, limits);
  await expect(nowhere.next()).rejects.toMatchObject({ code: 'REST_ADDRESS' });
});
