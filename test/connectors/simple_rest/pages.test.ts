import { expect, test } from 'vitest';
import rest from '../../../connectors/simple_rest/index.ts';
import { nextLink } from '../../../src/sdk/http/link-header.ts';
import { contextOf } from '../harness.ts';
import { sendJson, TestServer } from '../http-server.ts';
import { ids, numbers, restBench } from './rig.ts';

const { server, folder, extract, failure, asked, askedInFull } = restBench();

test('page numbers continue until a page is empty, even if the server returns fewer records than requested', async () => {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('p'));
    sendJson(response, { rows: ids(page * 3, page < 4 ? page * 3 + 3 : 0) });
  };
  const paging = { kind: 'page', parameter: 'p', first: 0, size_parameter: 'n', size: 100 };
  expect((await extract({ records: 'rows', paging })).rows).toEqual(numbers(0, 12));
  expect(asked().at(-1)).toBe('/?n=100&p=4');
});

test('with stop_at short, the first page with fewer records than the page size is the last', async () => {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('page'));
    if (page > 2) response.writeHead(404).end();
    else sendJson(response, ids(page * 10, page * 10 + (page === 2 ? 4 : 5)));
  };
  const paging = { kind: 'page', size_parameter: 'size', size: 5, stop_at: 'short' };
  expect((await extract({ paging })).rows).toEqual([...numbers(10, 15), ...numbers(20, 24)]);
});

test('offsets advance by the number of records returned, not requested', async () => {
  server.answer = ({ searchParams }, response) => {
    const from = Number(searchParams.get('skip'));
    sendJson(response, ids(from, Math.min(from + 3, 8)));
  };
  const paging = { kind: 'offset', parameter: 'skip', size_parameter: 'limit', size: 100 };
  expect((await extract({ paging })).rows).toEqual(numbers(0, 8));
  expect(asked()).toEqual([0, 3, 6, 8].map((skip) => `/?limit=100&skip=${skip}`));
});

test('cursors are followed to the end, past pages without records', async () => {
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

test('next links are followed, including relative ones, with the headers of the first request', async () => {
  server.answer = ({ pathname }, response) =>
    sendJson(response, pathname === '/a' ? { v: ids(0, 1), '@odata.nextLink': 'b?x=1' } : { v: ids(1, 2) });
  const paging = { kind: 'next_link', path: '@odata.nextLink' };
  const auth = { kind: 'bearer', token: 'tok-12345' };
  expect((await extract({ path: 'a', records: 'v', paging }, { auth })).rows).toEqual(numbers(0, 2));
  expect(asked()).toEqual(['/a', '/b?x=1']);
  expect(server.requests[1]!.headers.authorization).toBe('Bearer tok-12345');
});

test('Link headers are followed while they contain a next page', async () => {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('page') ?? 1);
    const link = `<${server.url}/?page=9>; rel="last", </?page=${page + 1}>; title="a, b"; rel="prefetch next"`;
    sendJson(response, ids(page, page + 1), { link: page < 3 ? link : '</?page=1>; rel="first"' });
  };
  expect((await extract({ paging: { kind: 'link_header' } })).rows).toEqual(numbers(1, 4));
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

test('every page counts as activity, even before the first row', async () => {
  server.answer = ({ searchParams }, response) =>
    sendJson(response, ids(0, searchParams.get('page') === '3' ? 0 : Number(searchParams.get('page'))));
  let signs = 0;
  const context = contextOf(rest, { source: { url: server.url }, query: { paging: { kind: 'page' } }, folder });
  await rest.extract({ ...context, alive: () => void signs++ });
  expect(signs).toBeGreaterThanOrEqual(3);
});

test('the columns of all pages form one table', async () => {
  server.answer = ({ searchParams }, response) => {
    const pages: Record<string, unknown> = { '1': [{ a: 1 }], '2': [{ b: 'x', a: 2.5 }] };
    sendJson(response, pages[searchParams.get('page')!] ?? []);
  };
  expect(await extract({ paging: { kind: 'page' } })).toMatchObject({
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

test('CSV pages are read as one table that ends with an empty body', async () => {
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

test.each([
  [{ more: 'more' }, (n: number) => ({ more: n < 3 })],
  [{ last: 'last' }, (n: number) => ({ last: n === 3 })],
  [{ total: 'total' }, () => ({ total: 6 })],
  [{ pages: 'pages' }, () => ({ pages: 3 })],
])('paging ends if the response says so: %j', async (stop, said) => {
  server.answer = (_, response, n) => sendJson(response, { rows: ids(n * 2, n * 2 + 2), ...said(n) });
  expect((await extract({ records: 'rows', paging: { kind: 'page', ...stop } })).rows).toEqual(numbers(2, 8));
});

test('the page number is sent in the body, the path or a header, as the request specifies', async () => {
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
  expect(askedInFull()).toEqual(['POST / {}', 'POST / {"at":1}', 'POST / {"at":2}']);
});

test('a server that ignores the paging parameter is detected by the repeated page', async () => {
  server.answer = (_, response) => sendJson(response, ids(0, 5));
  expect(await failure({ paging: { kind: 'page' } })).toMatchObject({ code: 'REST_PAGES_REPEAT', family: 'job' });
  expect(server.requests.length).toBe(2);
});

test.each([
  [{ kind: 'next_link', path: 'next' }, (n: number) => (n % 2 === 0 ? '/?x=1' : '/?x=2')],
  [{ kind: 'cursor', cursor: 'next' }, (n: number) => `c${n % 3}`],
])('circular pages are rejected: %j', async (paging, next) => {
  server.answer = (_, response, number) => sendJson(response, { rows: [{ number }], next: next(number) });
  expect(await failure({ records: 'rows', paging })).toMatchObject({ code: 'REST_PAGES_REPEAT' });
  expect(server.requests.length).toBeLessThan(5);
});

test("more pages than allowed cause an error, but exactly as many don't", async () => {
  server.answer = ({ searchParams }, response) =>
    sendJson(response, ids(Number(searchParams.get('page')), searchParams.get('page') === '4' ? 0 : 99));
  const paging = { kind: 'page' };
  expect(await failure({ paging, max_pages: 3 })).toMatchObject({ code: 'REST_MAX_PAGES', family: 'job' });
  await extract({ paging, max_pages: 4 });
});

test('a next link to another origin is rejected, or followed without credentials if the origin is listed', async () => {
  const other = await new TestServer().start();
  try {
    other.answer = (_, response) => sendJson(response, { v: ids(1, 2), next: null });
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
