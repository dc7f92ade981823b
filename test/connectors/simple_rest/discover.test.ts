import { expect, test } from 'vitest';
import rest from '../../../connectors/simple_rest/index.ts';
import { contextOf } from '../harness.ts';
import { sendJson } from '../http-server.ts';
import { restBench } from './rig.ts';

const { server, folder, extract } = restBench();

async function discover(pattern?: string) {
  const context = contextOf(rest, { source: { url: server.url }, query: {}, folder });
  const [found, ...others] = await rest.discover!({ ...context, ...(pattern === undefined ? {} : { pattern }) });
  expect(others).toEqual([]);
  return found!;
}

const orders = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ status: 'open', order_id: from + i, total: '1.50' }));

/** A list of 25 orders, ten per page. */
const pages = [orders(0, 10), orders(10, 20), orders(20, 25)];

test('finds the records, a key and a next link, and suggests a query that reads all pages', async () => {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('p') ?? 0);
    const next = page < 2 ? `/orders?p=${page + 1}` : null;
    sendJson(response, { meta: { tags: [{ a: 1 }] }, data: { items: pages[page] }, links: { next } });
  };
  const found = await discover('/orders');
  expect(found).toEqual({
    name: '/orders',
    kind: 'stream',
    columns: [
      { name: 'status', type: 'text' },
      { name: 'order_id', type: 'integer' },
      { name: 'total', type: 'text' },
    ],
    key: ['order_id'],
    query: { path: '/orders', records: 'data.items', paging: { kind: 'next_link', path: 'links.next' } },
    notes: [
      'Other lists in the response: meta.tags.',
      'order_id is different in each of the 20 records seen.',
      'The second page was requested and has different records.',
      'Other possible settings for paging: {"kind":"page","parameter":"page"}.',
    ],
  });
  expect(server.requests.map(({ url }) => url)).toEqual(['/orders', '/orders?p=1']);
  expect((await extract(found.query)).rows).toHaveLength(25);
});

test('finds page numbers with a total, cursors and Link headers', async () => {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('page') ?? 1);
    sendJson(response, { total: 25, items: pages[page - 1] ?? [] });
  };
  const numbered = await discover('/orders');
  expect(numbered.query.paging).toEqual({ kind: 'page', parameter: 'page', total: 'total' });
  expect((await extract(numbered.query)).rows).toHaveLength(25);

  server.answer = ({ searchParams }, response) => {
    const page = Number((searchParams.get('cursor') ?? 'c0').slice(1));
    sendJson(response, { items: pages[page], meta: { next_cursor: page < 2 ? `c${page + 1}` : null } });
  };
  const token = await discover('/orders');
  expect(token.query.paging).toEqual({ kind: 'cursor', cursor: 'meta.next_cursor', parameter: 'cursor' });
  expect((await extract(token.query)).rows).toHaveLength(25);

  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('p') ?? 0);
    sendJson(response, pages[page], page < 2 ? { link: `</orders?p=${page + 1}>; rel="next"` } : { link: '' });
  };
  const linked = await discover('/orders');
  expect(linked.query).toEqual({ path: '/orders', paging: { kind: 'link_header' } });
  expect((await extract(linked.query)).rows).toHaveLength(25);
});

test("doesn't suggest paging if the second request returns the same records, and explains why", async () => {
  server.answer = (_, response) => sendJson(response, pages[2]);
  const { query, notes } = await discover('/orders');
  expect(query).toEqual({ path: '/orders' });
  expect(notes).toContain(
    'A request for the second page with {"kind":"page","parameter":"page"} returned no new records; see the API\'s documentation for paging.',
  );
});

test("doesn't send credentials or requests to another origin", async () => {
  server.answer = (_, response) => sendJson(response, { items: pages[0], next: 'http://127.0.0.1:9/orders?p=1' });
  const { query, notes } = await discover('/orders');
  expect(query.paging).toEqual({ kind: 'next_link', path: 'next' });
  expect(notes!.join()).toContain('check `paging`');
  expect(server.requests).toHaveLength(1);
});

test('lists the columns in other formats and in a single record', async () => {
  server.answer = (_, response) => response.writeHead(200, { 'content-type': 'text/csv' }).end('a,b\n1,x\n');
  expect(await discover('/report')).toMatchObject({
    columns: [{ name: 'a' }, { name: 'b' }],
    query: { path: '/report' },
  });
  server.answer = (_, response) => sendJson(response, { id: 1, name: 'x' });
  expect((await discover('/me')).notes).toContain(
    'The response contains no list of records, so it is read as a single record.',
  );
});

test("requires a path, and reports the server's errors", async () => {
  await expect(discover()).rejects.toMatchObject({ code: 'DISCOVER_PATH', next: expect.stringContaining('--path') });
  server.answer = (_, response) => response.writeHead(404).end();
  await expect(discover('/orders')).rejects.toMatchObject({ code: 'REST_NOT_FOUND' });
  server.answer = (_, response) => sendJson(response, '{"a":');
  await expect(discover('/orders')).rejects.toMatchObject({ code: 'JSON_TRUNCATED' });
});
