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

/** An order as xml, csv or a line of json. */
const written = {
  xml: (order: object) =>
    `<order>${Object.entries(order)
      .map(([name, value]) => `<${name}>${value}</${name}>`)
      .join('')}</order>`,
  csv: (order: object) => `${Object.values(order).join()}\n`,
  jsonl: (order: object) => `${JSON.stringify(order)}\n`,
};

test.each<[string, (page: string, n: number) => string, object]>([
  [
    'in an element',
    (page, n) => `<result><orders>${page}</orders><next>${n < 2 ? `/orders?p=${n + 1}` : ''}</next></result>`,
    { records: 'result.orders.order', paging: { kind: 'next_link', path: 'result.next' } },
  ],
  [
    'in a list of links with attributes',
    (page, n) =>
      `<f xmlns="urn:f"><link rel="self" href="/orders"/>${n < 2 ? `<link rel="next" href="/orders?p=${n + 1}"/>` : ''}${page}</f>`,
    { records: 'f.order', paging: { kind: 'next_link', path: "f.link[?@.@rel=='next'].@href" } },
  ],
  [
    'as a cursor, inside of a SOAP envelope',
    (page, n) =>
      `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><a:R xmlns:a="urn:r"><rows>${page}</rows></a:R></s:Body></s:Envelope><!-- ${n} -->`,
    { records: 'Envelope.Body.R.rows.order', paging: { kind: 'link_header' } },
  ],
])('finds the records and the next page in xml: %s', async (_, document, expected) => {
  server.answer = ({ searchParams }, response) => {
    const n = Number(searchParams.get('p') ?? 0);
    const link = n < 2 ? `</orders?p=${n + 1}>; rel="next"` : '<a>; rel="self"';
    const headers = 'link_header' === (expected as { paging: { kind: string } }).paging.kind ? { link } : {};
    response.writeHead(200, { 'content-type': 'text/xml', ...headers });
    response.end(document(pages[n]!.map(written.xml).join(''), n));
  };
  const { query, key, notes, columns } = await discover('/orders');
  expect(query).toEqual({ path: '/orders', ...expected });
  expect([key, columns!.map(({ name }) => name)]).toEqual([['order_id'], ['status', 'order_id', 'total']]);
  expect(notes).toContain('The response is xml.');
  expect(notes).toContain('The second page was requested and has different records.');
  expect((await extract(query)).rows).toHaveLength(25);
});

test.each([
  ['text/csv', 'status,order_id,total\n', written.csv],
  ['application/x-ndjson', '', written.jsonl],
])('finds page numbers, totals and keys in %s', async (type, head, line) => {
  server.answer = ({ searchParams }, response) => {
    const page = pages[Number(searchParams.get('page') ?? 1) - 1] ?? [];
    response.writeHead(200, { 'content-type': type, 'x-total-count': '25' }).end(head + page.map(line).join(''));
  };
  const { query, key } = await discover('/orders');
  expect(query).toEqual({
    path: '/orders',
    paging: { kind: 'page', parameter: 'page', total: 'header(X-Total-Count)' },
  });
  expect(key).toEqual(['order_id']);
  expect((await extract(query)).rows).toHaveLength(25);
});

test('reads the only element of an xml response as a single record', async () => {
  server.answer = (_, response) =>
    response.writeHead(200, { 'content-type': 'text/xml' }).end(`<orders>${written.xml(pages[0]![3]!)}</orders>`);
  const { query } = await discover('/orders');
  expect(query).toEqual({ path: '/orders', records: 'orders.order' });
  expect((await extract(query)).rows).toEqual([['open', '3', '1.50']]);
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

test.each([[['id', 'name']], [[{ name: 'id' }, { name: 'name' }]]])(
  'says how to read a list of lists whose columns are %j',
  async (columns) => {
    server.answer = (_, response) => sendJson(response, { result: { columns, rows: [[1, 'a']] } });
    const { notes } = await discover('/table');
    expect(notes).toContain(
      'result.rows is a list of lists. To make rows of it, set `records: $` and use the transform `explode`.',
    );
    const whole = await extract({ path: '/table', records: '$' });
    expect(whole.columns.map(({ name }) => name)).toEqual(['result.columns', 'result.rows']);
    expect(whole.rows[0]![1]).toBe('[[1,"a"]]');
  },
);
