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

test('finds a next link in a list of links, as in FHIR and STAC', async () => {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('p') ?? 0);
    const link = [{ relation: 'self', url: '/orders' }];
    const next = { relation: 'next', url: `${server.url}/orders?p=${page + 1}` };
    sendJson(response, { link: page < 2 ? [...link, next] : link, entry: pages[page]!.slice(0, 1) });
  };
  const { query } = await discover('/orders');
  expect(query).toEqual({
    path: '/orders',
    records: 'entry',
    paging: { kind: 'next_link', path: "link[?@.relation=='next'].url" },
  });
  expect((await extract(query)).rows).toHaveLength(3);
});

test('finds a cursor in a header, a page number in the response, and a total in a header', async () => {
  const next = (page: number) => (page < 2 ? String(page + 1) : '');
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('page') ?? 0);
    sendJson(response, pages[page], { 'x-next-page': next(page) });
  };
  const byHeader = await discover('/orders');
  expect(byHeader.query.paging).toEqual({ kind: 'cursor', cursor: 'header(X-Next-Page)', parameter: 'page' });
  expect((await extract(byHeader.query)).rows).toHaveLength(25);

  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('page') ?? 0);
    sendJson(response, { data: pages[page], next_page: page < 2 ? page + 1 : null });
  };
  const byNumber = await discover('/orders');
  expect(byNumber.query.paging).toEqual({ kind: 'cursor', cursor: 'next_page', parameter: 'page' });
  expect((await extract(byNumber.query)).rows).toHaveLength(25);

  server.answer = ({ searchParams }, response) => {
    sendJson(response, pages[Number(searchParams.get('page') ?? 1) - 1] ?? [], { 'x-total-count': '25' });
  };
  const byTotal = await discover('/orders');
  expect(byTotal.query.paging).toEqual({ kind: 'page', parameter: 'page', total: 'header(X-Total-Count)' });
  expect((await extract(byTotal.query)).rows).toHaveLength(25);
});

test("uses the last record's key if a flag says that there are more pages", async () => {
  const all = orders(1, 26).map((order) => ({ ...order, updated_at: '2026-03-01T10:00:00Z' }));
  server.answer = ({ searchParams }, response) => {
    const after = Number(searchParams.get('starting_after') ?? 0);
    const data = all.filter(({ order_id }) => order_id > after).slice(0, 10);
    sendJson(response, { data, has_more: data.at(-1)!.order_id < 25 });
  };
  const { query, key, notes } = await discover('/orders');
  expect(key).toEqual(['order_id']);
  expect(query.paging).toEqual({
    kind: 'cursor',
    cursor: 'last_record().order_id',
    parameter: 'starting_after',
    more: 'has_more',
  });
  expect(notes).toContain(
    "updated_at probably is the time of a record's last change. If the API can filter by it, `cursor: updated_at` and {{ since }} read only changed records.",
  );
  expect((await extract(query)).rows).toHaveLength(25);
});

test("reads an object's members as records, and names with special characters", async () => {
  const members = Object.fromEntries(orders(0, 3).map((order) => [`k${order.order_id}`, order]));
  server.answer = (_, response) => sendJson(response, { meta: { a: 1 }, 'the.items': members });
  const { query, key, columns } = await discover('/orders');
  expect(query).toEqual({ path: '/orders', records: "$['the.items'].*", key_column: 'key' });
  expect([key, columns!.map(({ name }) => name)]).toEqual([['key'], ['key', 'status', 'order_id', 'total']]);
  expect((await extract(query)).rows[0]).toEqual(['k0', 'open', '0', '1.50']);
});
