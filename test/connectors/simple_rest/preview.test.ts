import { expect, test } from 'vitest';
import { sendJson } from '../http-server.ts';
import { ids, restBench } from './rig.ts';

const { server, extract, failure, asked, askedInFull } = restBench();
const preview = { allowsAnyMethod: false };
const list = { path: '/things', records: 'data' };

test('requests only the first page of the first path, and says whether a run would request another one', async () => {
  server.answer = (_, response) => sendJson(response, { data: ids(0, 10), next: '/things?p=2' });
  const paging = { kind: 'next_link', path: 'next' };
  const found = await extract({ records: 'data', paths: ['/a', '/b'], paging }, {}, { preview });
  expect(asked()).toEqual(['/a']);
  expect(found).toMatchObject({ firstPage: { records: 10, hasNext: true }, warnings: [] });
  expect(found.rows).toHaveLength(10);
});

test.each([
  ['path', { paths: ['/a', '/b', '/c', '/d'] }],
  ['parent', { for_each: { values: ['a', 'b', 'c', 'd'], missing: 'skip' }, path: '/{{ parent.value }}' }],
  [
    'period',
    { path: '/{{ window.from | format: DD }}', window: { start: '2026-01-01', end: '2026-01-04', step: '1d' } },
  ],
])('requests the first page of another %s while there are no records', async (_, query) => {
  server.answer = ({ pathname }, response) => {
    if (pathname === '/b') response.writeHead(404).end();
    else sendJson(response, /c|03/.test(pathname) ? [{ id: 1 }] : []);
  };
  const answers = [{ status: 404, means: 'missing' }];
  const found = await extract({ ...query, answers }, {}, { preview });
  expect(asked()).toHaveLength(3);
  expect(found.rows).toEqual([['1']]);
  expect(found.firstPage).toEqual({ records: 1, hasNext: true });
});

test('ends after ten empty first pages', async () => {
  server.answer = (_, response) => sendJson(response, []);
  const paths = Array.from({ length: 20 }, (_, i) => `/${i}`);
  expect(await extract({ paths }, {}, { preview })).toMatchObject({ firstPage: { records: 0, hasNext: true } });
  expect(asked()).toHaveLength(10);
});

test.each<[string, Record<string, string>, object, string]>([
  ['a next link', {}, { next: '/things?p=2' }, 'at `next`'],
  ['a Link header', { link: '</things?p=2>; rel="next"' }, {}, 'at the Link header'],
  ['a total', {}, { meta: { total: 47 } }, 'reports 47 records at `meta.total`, but has 10'],
  ['a total in a header', { 'x-total-count': '47' }, {}, 'reports 47 records at `header(X-Total-Count)`, but has 10'],
])('warns if no other page would be requested but there is %s', async (_, headers, body, message) => {
  server.answer = (__, response) => sendJson(response, { data: ids(0, 10), ...body }, headers);
  const { firstPage, warnings } = await extract(list, {}, { preview });
  expect(firstPage).toEqual({ records: 10, hasNext: false });
  expect(warnings).toMatchObject([{ code: 'REST_MORE_PAGES', message: expect.stringContaining(message) }]);
});

test("doesn't warn if the total is the number of records", async () => {
  server.answer = (_, response) => sendJson(response, { data: ids(0, 10), total: 10, count: 10 });
  expect((await extract(list, {}, { preview })).warnings).toEqual([]);
});

test('fails as a run does if the place of the next page is not in the response', async () => {
  server.answer = (_, response) => sendJson(response, { data: ids(0, 10), next: '/things?p=2' });
  const query = { ...list, paging: { kind: 'next_link', path: 'nxt' } };
  expect(await failure(query, {}, { preview })).toMatchObject({ code: 'REST_NO_WAY_ON' });
});

test('retries nothing, and sends other methods only if they are allowed', async () => {
  server.answer = (_, response) => response.writeHead(503).end();
  expect(await failure(list, {}, { preview })).toMatchObject({ family: 'try_later' });
  expect(asked()).toHaveLength(1);

  server.answer = (_, response) => sendJson(response, { data: ids(0, 1) });
  const post = { ...list, method: 'post', body: {} };
  const start = { path: '/exports', body: {}, keep: { id: 'id' } };
  const report = { start, poll: { path: '/exports', state: 'state', done: 'done' } };
  for (const query of [post, { ...list, report }]) {
    expect(await failure(query, {}, { preview })).toMatchObject({ code: 'PREVIEW_METHOD', family: 'config' });
  }
  expect(asked()).toHaveLength(1);
  expect((await extract(post, {}, { preview: { allowsAnyMethod: true } })).rows).toHaveLength(1);
  expect(askedInFull().at(-1)).toBe('POST /things {}');
});
