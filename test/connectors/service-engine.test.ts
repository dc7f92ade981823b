import { readdirSync, readlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { defineService, option, type ServiceDescription, type StreamData } from '../../src/sdk/index.ts';
import { failService, runService } from './doubles/service-suite.ts';
import type { Fault, Routes } from './doubles/vendor.ts';

interface Given {
  readonly routes: Routes;
  readonly query?: Record<string, unknown>;
  readonly source?: Record<string, unknown>;
  readonly watermark?: string;
  readonly faults?: readonly Fault[];
  readonly service?: Partial<ServiceDescription>;
  readonly others?: Record<string, StreamData>;
  readonly kept?: Record<string, string>;
  readonly timezone?: string;
}

const basics: StreamData = {
  about: 'Things.',
  request: { path: '/things' },
  records: 'data',
  columns: { id: 'integer' },
};

/** A service with one stream, made of the parts that a test is about. */
function caseOf(stream: Partial<StreamData>, { service, others = {}, query = {}, ...given }: Given) {
  return {
    ...given,
    query,
    service: defineService({
      id: 'acme',
      title: 'Acme',
      summary: 'Reads what Acme has.',
      base: 'https://api.acme.example/v1',
      login: { kind: 'none' },
      check: { request: { path: '/me' }, say: 'ok' },
      ...service,
      streams: { things: { ...basics, ...stream }, ...others },
    }),
  };
}
const run = (stream: Partial<StreamData>, given: Given) => runService(caseOf(stream, given));
const fail = (stream: Partial<StreamData>, given: Given) => failService(caseOf(stream, given));
const ids = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: from + i }));
const numbers = (from: number, to: number) => ids(from, to).map(({ id }) => [String(id)]);

it('goes by page numbers in the path, until a page is empty', async () => {
  const { rows, asked } = await run(
    { request: { path: '/things/{{ page.number }}/2' }, paging: { by: 'page', first: 0 } },
    {
      routes: {
        'GET /v1/things/{page}/2': ({ part }) => ({
          json: { data: ids(Number(part.page) * 2, Math.min(5, Number(part.page) * 2 + 2)) },
        }),
      },
    },
  );
  expect(rows).toEqual(numbers(0, 5));
  expect(asked.at(-1)).toBe('GET /v1/things/3/2');
});

it('ends at a flag, a total, a number of pages, a short page or an empty chunk', async () => {
  const request = { path: '/things', query: { page: '{{ page.number }}' } };
  const page = (json: (n: number) => object, headers = {}) => ({
    'GET /v1/things': ({ query }: { query: URLSearchParams }) => {
      const n = Number(query.get('page'));
      return { json: { data: ids(n * 2, n * 2 + (n === 3 ? 1 : 2)), ...json(n) }, headers };
    },
  });
  const lastPage = async (stop: object, routes: Routes) =>
    (await run({ request, paging: { by: 'page', first: 1, ...stop } }, { routes })).asked.at(-1);
  const third = 'GET /v1/things?page=3';
  expect(
    await lastPage(
      { more: 'has_more' },
      page((n) => ({ has_more: n < 3 })),
    ),
  ).toBe(third);
  expect(
    await lastPage(
      { last: 'lastPage' },
      page((n) => ({ lastPage: n === 3 })),
    ),
  ).toBe(third);
  expect(
    await lastPage(
      { total: { header: 'Total-Count' } },
      page(() => ({}), { 'total-count': '5' }),
    ),
  ).toBe(third);
  expect(
    await lastPage(
      { pages: 'meta.pages' },
      page(() => ({ meta: { pages: 3 } })),
    ),
  ).toBe(third);
  expect(
    await lastPage(
      { size: 2 },
      page(() => ({})),
    ),
  ).toBe(third);
  expect(
    await lastPage(
      { empty: 'chunk_size' },
      page((n) => ({ chunk_size: n === 3 ? 0 : 2 })),
    ),
  ).toBe(third);
});

it('follows tokens in bodies and headers, links in bodies and in the Link header, and keys of the last record', async () => {
  const tokens = await run(
    {
      request: { path: '/things', json: { query: 'q', pageToken: '{{ page.token }}' } },
      paging: { by: 'token', at: { header: 'locator' } },
    },
    {
      routes: {
        'POST /v1/things': ({ body }) =>
          body.pageToken
            ? { json: { data: ids(2, 3) }, headers: { locator: 'null' } }
            : { json: { data: ids(0, 2) }, headers: { locator: 't2' } },
      },
    },
  );
  expect(tokens).toMatchObject({
    rows: numbers(0, 3),
    asked: ['POST /v1/things {"query":"q"}', 'POST /v1/things {"query":"q","pageToken":"t2"}'],
  });
  const links = await run(
    { paging: { by: 'link', at: 'next' } },
    {
      routes: {
        'GET /v1/things': { json: { data: ids(0, 2), next: '/v1/more?x=1' } },
        'GET /v1/more': { json: { data: ids(2, 3) } },
      },
    },
  );
  expect(links).toMatchObject({ rows: numbers(0, 3), asked: ['GET /v1/things', 'GET /v1/more?x=1'] });
  const headers = await run(
    { request: { path: '/things', query: { limit: 2 } }, paging: { by: 'link' } },
    {
      routes: {
        'GET /v1/things': ({ query }) =>
          query.has('p')
            ? { json: { data: ids(2, 3) } }
            : { json: { data: ids(0, 2) }, headers: { link: '</v1/things?p=2>; rel="next"' } },
      },
    },
  );
  expect(headers).toMatchObject({ rows: numbers(0, 3), asked: ['GET /v1/things?limit=2', 'GET /v1/things?p=2'] });
  const journal = await run(
    {
      request: { path: '/things', query: { offset: '{{ page.offset }}' } },
      paging: { by: 'offset', last_record: 'id' },
    },
    {
      routes: {
        'GET /v1/things': ({ query }) => ({ json: { data: ids(Number(query.get('offset')) + 1, 6).slice(0, 2) } }),
      },
    },
  );
  expect(journal.asked).toEqual([0, 2, 4, 5].map((offset) => `GET /v1/things?offset=${offset}`));
});

it('refuses a next link to another host, and takes the same page again for the end where it is said to be', async () => {
  const away = { 'GET /v1/things': { json: { data: ids(0, 1), next: 'https://elsewhere.example/x' } } };
  expect(await fail({ paging: { by: 'link', at: 'next' } }, { routes: away })).toMatchObject({
    code: 'SERVICE_ORIGIN',
  });
  const same = { 'GET /v1/things': { json: { data: ids(0, 2) } } };
  const paging = { by: 'page' } as const;
  expect(await fail({ paging }, { routes: same })).toMatchObject({ code: 'SERVICE_PAGES_REPEAT' });
  expect((await run({ paging: { ...paging, repeated: 'end' } }, { routes: same })).rows).toEqual(numbers(0, 2));
  expect(
    await fail(
      { paging, request: { path: '/things', query: { p: '{{ page.number }}' } } },
      {
        routes: { 'GET /v1/things': ({ query }) => ({ json: { data: ids(Number(query.get('p')), 99) } }) },
        query: { max_pages: 3 },
      },
    ),
  ).toMatchObject({ code: 'SERVICE_MAX_PAGES' });
});

it('knows a page that comes twice though something else in it differs, and refuses more pages without a way to them', async () => {
  let asked = 0;
  const stuck = (records: object[]): Routes => ({
    'GET /v1/things': () => ({ json: { request: ++asked, data: records, next: 'c1' } }),
  });
  const stream: Partial<StreamData> = {
    request: { path: '/things', query: { after: '{{ page.token }}' } },
    paging: { by: 'token', at: 'next' },
  };
  expect(await fail(stream, { routes: stuck(ids(1, 3)) })).toMatchObject({ code: 'SERVICE_PAGES_REPEAT' });
  expect(asked).toBe(2);
  // One and the same token for pages that differ is no fault: some services count for us.
  const scroll: Routes = { 'GET /v1/things': () => ({ json: { data: ids(asked++, Math.min(asked, 3)), next: 'c1' } }) };
  asked = 1;
  const ending = { by: 'token', at: 'next', empty: 'data' } as const;
  expect((await run({ ...stream, paging: ending }, { routes: scroll })).rows).toEqual(numbers(1, 3));
  const odd: Routes = { 'GET /v1/things': { json: { data: ids(1, 3), more: true } } };
  const flagged = { by: 'token', at: 'next', more: 'more' } as const;
  expect(await fail({ ...stream, paging: flagged }, { routes: odd })).toMatchObject({
    code: 'SERVICE_NO_WAY_ON',
    family: 'job',
  });
});

it('reads roots that are lists, wildcards, tables under a header and values beside names', async () => {
  const read = async (records: StreamData['records'], json: unknown) =>
    await run({ records, columns: 'discovered' }, { routes: { 'GET /v1/things': { json } } });
  expect((await read('', [{ id: 1 }, { id: 2 }])).rows).toEqual([['1'], ['2']]);
  expect((await read('*.results', [{ results: [{ id: 1 }] }, {}, { results: [{ id: 2 }] }])).rows).toEqual([
    ['1'],
    ['2'],
  ]);
  const table = await read(
    { at: 'values', table: 'header_row' },
    { values: [['a', 'a', ''], [1, 'x'], [], [2, '', 'z']] },
  );
  expect(table).toMatchObject({
    columns: ['a integer', 'a_2 text', 'column3 text'],
    rows: [
      ['1', 'x', null],
      ['2', null, 'z'],
    ],
  });
  const zip = { at: 'rows', zip: [{ names: 'columns.*.id', values: 'data.*' }] };
  const zipped = await read(zip, { columns: [{ id: 'visits' }, { id: 'orders' }], rows: [{ data: [1, 2.5] }] });
  expect(zipped).toMatchObject({ columns: ['visits integer', 'orders decimal'], rows: [['1', '2.5']] });
  expect((await read('missing', {})).rows).toEqual([]);
});

it('keeps the digits that the vendor wrote, in declared and in discovered columns', async () => {
  const text = '{"data":[{"id":12345678901234567890,"paid":1.50,"more":{"rate":0.10,"at":1e3}}]}';
  const routes = { 'GET /v1/things': { text, headers: { 'content-type': 'application/json' } } };
  const declared = await run(
    { columns: { id: 'integer', paid: 'decimal', more: 'json', 'more.rate': 'text' } },
    { routes },
  );
  expect(declared.rows).toEqual([['12345678901234567890', '1.50', '{"rate":0.10,"at":1e3}', '0.10']]);
  const discovered = await run({ columns: 'discovered', drop: ['more'] }, { routes });
  expect(discovered).toMatchObject({
    columns: ['id integer', 'paid decimal'],
    rows: [['12345678901234567890', '1.50']],
  });
});

it('reads dates as vendors write them', async () => {
  const record = {
    day: '20260131',
    ms: 1769850000000,
    s: '1769850000',
    net: '/Date(1769850000000+0000)/',
    local: '2026-01-31 09:00:00',
  };
  const { rows } = await run(
    {
      columns: {
        day: { type: 'date', date: 'YYYYMMDD' },
        ms: { type: 'timestamptz', date: 'epoch_ms' },
        s: { type: 'timestamptz', date: 'epoch' },
        net: { type: 'timestamptz', date: 'dotnet' },
        local: { type: 'timestamptz', date: 'local' },
      },
    },
    { routes: { 'GET /v1/things': { json: { data: [record] } } }, timezone: 'Europe/Berlin' },
  );
  expect(rows).toEqual([
    ['2026-01-31', '2026-01-31T09:00:00Z', '2026-01-31T09:00:00Z', '2026-01-31T09:00:00Z', '2026-01-31T08:00:00Z'],
  ]);
});

it("shows the vendor's own words from where they stand", async () => {
  const text = `<Envelope ${'x'.repeat(300)}=""><Body><Fault><faultstring>No such cube</faultstring></Fault></Body></Envelope>`;
  const errors = [
    { body: { 'Envelope.Body.Fault': true }, said: 'Envelope.Body.Fault.faultstring', verdict: 'config' },
  ];
  const problem = await fail({ decode: 'xml', errors: errors as never }, { routes: { 'GET /v1/things': { text } } });
  expect(problem).toMatchObject({ code: 'SERVICE_REFUSED', family: 'config', seen: 'status 200: No such cube' });
});

it('reads csv, lines of JSON, XML and raw text', async () => {
  const csv = await run(
    { decode: { as: 'csv', delimiter: ';' }, columns: { id: 'integer', name: 'text' } },
    { routes: { 'GET /v1/things': { text: 'id;name;x\n1;"a;b";\n2;;\n' } } },
  );
  expect(csv.rows).toEqual([
    ['1', 'a;b'],
    ['2', null],
  ]);
  expect((await run({ decode: 'csv' }, { routes: { 'GET /v1/things': { text: '' } } })).rows).toEqual([]);
  const jsonl = await run({ decode: 'jsonl' }, { routes: { 'GET /v1/things': { text: '{"id":1}\n\n{"id":2}' } } });
  expect(jsonl.rows).toEqual(numbers(1, 3));
  const xml = await run(
    { decode: 'xml', records: 'Envelope.Body.rows.row', columns: { id: { type: 'integer', at: '@id' }, name: 'text' } },
    {
      routes: {
        'GET /v1/things': {
          text: '<s:Envelope xmlns:s="x"><s:Body><rows><row id="1"><name>a &amp; b</name></row></rows></s:Body></s:Envelope>',
        },
      },
    },
  );
  expect(xml.rows).toEqual([['1', 'a & b']]);
  const raw = await run(
    { decode: 'raw', columns: { content: 'text' } },
    { routes: { 'GET /v1/things': { text: 'any\nthing' } } },
  );
  expect(raw.rows).toEqual([['any\nthing']]);
});

it('asks for every combination of parts, and goes on where one has nothing', async () => {
  const shops: StreamData = { ...basics, about: 'Shops.', request: { path: '/shops' }, columns: { id: 'integer' } };
  const outcome = await run(
    {
      options: { engines: option.text({ about: 'Engines to look at.', example: 'a,b' }) },
      partitions: { shop: { stream: 'shops', fields: { id: 'id' } }, engine: { option: 'engines' } },
      request: { path: '/shops/{{ partition.shop.id }}/things', query: { engine: '{{ partition.engine }}' } },
      columns: {
        shop: { type: 'integer', scope: 'partition.shop.id' },
        engine: { type: 'text', scope: 'partition.engine' },
        id: 'integer',
      },
      errors: [{ status: 400, body: { error: /not yet/ }, verdict: 'ignore' }],
    },
    {
      others: { shops },
      query: { engines: 'a, b' },
      routes: {
        'GET /v1/shops': { json: { data: ids(1, 3) } },
        'GET /v1/shops/{shop}/things': ({ part, query }) =>
          part.shop === '1' && query.get('engine') === 'b'
            ? { status: 400, json: { error: 'not yet calculated' } }
            : { json: { data: ids(0, 1) } },
      },
    },
  );
  expect(outcome.rows).toEqual([
    ['1', 'a', '0'],
    ['2', 'a', '0'],
    ['2', 'b', '0'],
  ]);
});

it('asks span by span, with the end inside or outside, as days or as milliseconds', async () => {
  const spans = async (window: StreamData['window'], format: string) => {
    const request = { path: '/things', query: { from: `{{ window.from${format} }}`, to: `{{ window.to${format} }}` } };
    const query = { start_date: '2026-01-01', end_date: '2026-01-05' };
    const { asked } = await run({ window: window!, request }, { routes: { 'GET /v1/things': { json: {} } }, query });
    return asked.map((line) => line.split('?')[1]);
  };
  expect(await spans({ step: '2d' }, '')).toEqual([
    'from=2026-01-01&to=2026-01-02',
    'from=2026-01-03&to=2026-01-04',
    'from=2026-01-05&to=2026-01-05',
  ]);
  expect(await spans({ step: '1mo', end: 'outside' }, ' | format: YYYYMMDD')).toEqual(['from=20260101&to=20260106']);
  expect(await spans({ end: 'outside' }, ' | epoch_ms')).toEqual(['from=1767225600000&to=1767657600000']);
});

it('goes on from the highest change, without those at the edge, and restarts where the vendor stops counting', async () => {
  const all = [1, 2, 2, 3, 4, 4, 5].map((day, i) => ({ id: i, changed: `2026-01-0${day}T00:00:00Z` }));
  const routes: Routes = {
    'POST /v1/things': ({ body }) => ({
      json: { data: all.filter(({ changed }) => changed >= (body.since ?? '')).slice(0, 3) },
    }),
  };
  const stream: Partial<StreamData> = {
    request: { path: '/things', json: { since: '{{ since | iso }}' } },
    columns: { id: 'integer', changed: 'timestamptz' },
    incremental: { column: 'changed', key: 'id', cap: 3 },
  };
  const query = { incremental: true };
  const first = await run(stream, { routes, query });
  expect(first.rows.map(([id]) => id)).toEqual(['0', '1', '2', '3', '4', '5', '6']);
  expect(first.watermark).toBe('{"since":"2026-01-05T00:00:00Z","edge":["6"]}');
  const none = await run(stream, { routes, query, watermark: first.watermark! });
  expect(none).toMatchObject({ rows: [], unchanged: true, watermark: first.watermark });
  all.push({ id: 7, changed: '2026-01-05T00:00:00Z' });
  const next = await run(stream, { routes, query, watermark: none.watermark! });
  expect(next).toMatchObject({ rows: [['7', '2026-01-05T00:00:00Z']], unchanged: false });
  expect(next.watermark).toBe('{"since":"2026-01-05T00:00:00Z","edge":["6","7"]}');
});

it('keeps the watermark behind what may still show up late, and goes on from the exact edge where all is old', async () => {
  const now = Temporal.Now.instant();
  const fresh = now.toString({ smallestUnit: 'second' });
  const all = [
    { id: 1, changed: '2026-01-05T00:00:00Z' },
    { id: 2, changed: fresh },
  ];
  const routes: Routes = { 'GET /v1/things': () => ({ json: { data: all } }) };
  const stream: Partial<StreamData> = {
    columns: { id: 'integer', changed: 'timestamptz' },
    incremental: { column: 'changed', key: 'id', settles: '10m' },
  };
  const query = { incremental: true };
  const first = await run(stream, { routes, query });
  const { since, edge } = JSON.parse(first.watermark!) as { since: string; edge?: string[] };
  const behind = now.since(Temporal.Instant.from(since)).total('minutes');
  expect([Math.round(behind), edge]).toEqual([10, undefined]);
  // Changed before the one that was read, and to be seen only now.
  all.push({ id: 3, changed: now.subtract({ minutes: 1 }).toString({ smallestUnit: 'second' }) });
  const second = await run(stream, { routes, query, watermark: first.watermark! });
  expect(second.rows.map(([id]) => id)).toEqual(['2', '3']);
  all.splice(1);
  const old = await run(stream, { routes, query });
  expect(old.watermark).toBe('{"since":"2026-01-05T00:00:00Z","edge":["1"]}');
  expect(await run(stream, { routes, query, watermark: old.watermark! })).toMatchObject({ rows: [], unchanged: true });
});

it('resumes by the column that the user names', async () => {
  const stream: Partial<StreamData> = {
    options: { by: option.text({ about: 'Which time.', default: 'changed', example: 'made' }) },
    columns: { id: 'integer', made: 'timestamptz', changed: 'timestamptz' },
    incremental: { column: '{{ by }}', key: 'id' },
  };
  const all = [{ id: 1, made: '2026-01-01T00:00:00Z', changed: '2026-01-09T00:00:00Z' }];
  const routes: Routes = { 'GET /v1/things': { json: { data: all } } };
  const watermark = async (query: object) =>
    (await run(stream, { routes, query: { incremental: true, ...query } })).watermark;
  expect(await watermark({})).toBe('{"since":"2026-01-09T00:00:00Z","edge":["1"]}');
  expect(await watermark({ by: 'made' })).toBe('{"since":"2026-01-01T00:00:00Z","edge":["1"]}');
});

it('has a report made, waits for it and fetches it', async () => {
  let polls = 0;
  const stream: Partial<StreamData> = {
    job: {
      create: { path: '/reports', json: { of: 'things' } },
      keep: { id: 'report.id' },
      start: { method: 'POST', path: '/reports/{{ job.id }}/start' },
      poll: { path: '/reports/{{ job.id }}' },
      state: 'state',
      done: ['Done'],
      failed: ['Broken'],
      every: '0s',
      result: { url: 'url' },
    },
    request: { path: '{{ job.url }}' },
    decode: 'csv',
    errors: [{ status: 400, body: { error: 'report_not_ready' }, verdict: 'pending' }],
  };
  const routes = (end: object): Routes => ({
    'POST /v1/reports': { json: { report: { id: 'r1' } } },
    'POST /v1/reports/r1/start': { status: 204 },
    'GET /v1/reports/r1': ({ base }) =>
      ++polls % 3 === 1
        ? { status: 400, json: { error: 'report_not_ready' } }
        : { json: polls % 3 === 2 ? { state: 'Running' } : { url: `${base}/files/r1`, ...end } },
    'GET /files/r1': { text: 'id\n1\n2\n' },
  });
  expect((await run(stream, { routes: routes({ state: 'Done' }) })).rows).toEqual(numbers(1, 3));
  expect(await fail(stream, { routes: routes({ state: 'Broken' }) })).toMatchObject({
    code: 'SERVICE_JOB_FAILED',
    seen: 'Broken',
  });
});

it('asks the service which columns there are', async () => {
  const { columns, rows, asked } = await run(
    {
      columns: {
        request: { path: '/fields' },
        records: 'fields',
        name: 'name',
        type: 'kind',
        types: { double: 'decimal' },
        only: { readable: true },
      },
      request: {
        path: '/things',
        query: { q: "SELECT {{ fields | join: , }} FROM t WHERE d = {{ 'a' | quoted }}" },
      },
    },
    {
      routes: {
        'GET /v1/fields': {
          json: {
            fields: [
              { name: 'id', kind: 'id', readable: true },
              { name: 'x', kind: 'double', readable: true },
              { name: 'y', readable: false },
            ],
          },
        },
        'GET /v1/things': { json: { data: [{ id: 'a', x: 1.5, y: 1 }] } },
      },
    },
  );
  expect(columns).toEqual(['id text', 'x decimal']);
  expect(rows).toEqual([['a', '1.5']]);
  expect(asked[1]).toBe("GET /v1/things?q=SELECT id,x FROM t WHERE d = 'a'");
});

it('fetches the file of a report without credentials, and nothing where there is none', async () => {
  const sent: (string | undefined)[] = [];
  const stream: Partial<StreamData> = {
    job: {
      create: { path: '/reports', json: {} },
      keep: { id: 'id' },
      poll: { path: '/reports/{{ job.id }}' },
      state: 'state',
      done: ['Done'],
      failed: [],
      result: { url: 'url' },
      needs: 'url',
    },
    request: { path: '{{ job.url }}', bare: true },
    decode: 'jsonl',
  };
  const login = { kind: 'key', headers: { authorization: 'Bearer {{ key }}' } } as const;
  const key = option.text({ about: 'The key.', secret: true });
  const routes = (isEmpty: boolean): Routes => ({
    'POST /v1/reports': { json: { id: 'r1' } },
    'GET /v1/reports/r1': ({ base, headers }) => {
      sent.push(headers.authorization);
      return { json: { state: 'Done', url: isEmpty ? null : `${base}/files/r1?signed=yes` } };
    },
    'GET /files/r1': ({ headers }) => {
      sent.push(headers.authorization, headers['x-own'] as string | undefined);
      return { text: '{"id":1}\n{"id":2}' };
    },
  });
  const service = { login, options: { key }, headers: { 'x-own': 'x' } };
  const given = (isEmpty: boolean) => ({ routes: routes(isEmpty), service, source: { key: 'k1' } });
  expect((await run(stream, given(false))).rows).toEqual(numbers(1, 3));
  expect(sent).toEqual(['Bearer k1', undefined, undefined]);
  expect((await run(stream, given(true))).rows).toEqual([]);
});

it('gives of the columns those that the user wants, behind those that are always there, and names what there is not', async () => {
  const stream: Partial<StreamData> = {
    options: { pick: option.list<string>({ type: 'string' }, { about: 'Which fields.', example: ['x'] }) },
    columns: {
      request: { path: '/fields' },
      records: '',
      name: 'name',
      type: 'kind',
      types: { day: { type: 'date', date: 'YYYYMMDD' } },
      wanted: '{{ pick }}',
      within: 'values',
      always: { id: 'integer', where: { type: 'text', at: 'at.city' } },
    },
    request: { path: '/things', query: { fields: '{{ fields | join: , }}' } },
  };
  const routes: Routes = {
    'GET /v1/fields': { json: ['a', 'b', 'born'].map((name) => ({ name, kind: name === 'born' ? 'day' : 'word' })) },
    'GET /v1/things': { json: { data: [{ id: 1, at: { city: 'Ulm' }, values: { a: 'x', born: '20260131' } }] } },
  };
  const { columns, rows, asked } = await run(stream, { routes, query: { pick: ['born', 'a', 'born'] } });
  expect(columns).toEqual(['id integer', 'where text', 'born date', 'a text']);
  expect(rows).toEqual([['1', 'Ulm', '2026-01-31', 'x']]);
  expect(asked[1]).toBe('GET /v1/things?fields=born,a');
  expect((await run(stream, { routes })).asked[1]).toBe('GET /v1/things?fields=a,b,born');
  expect(await fail(stream, { routes, query: { pick: ['BOR'] } })).toMatchObject({
    code: 'SERVICE_NO_FIELD',
    family: 'config',
    seen: 'BOR',
    allowed: 'born … (3 altogether)',
  });
});

it('logs in with a call, again when the session ends, and logs out', async () => {
  let sessions = 0;
  const outcome = await run(
    { paging: { by: 'page' }, request: { path: '/things', query: { p: '{{ page.number }}' } } },
    {
      source: { user: 'ann', password: 'secret-1' },
      service: {
        budget: { at_once: 1 },
        options: { user: option.text({ about: 'User.' }), password: option.text({ about: 'Password.', secret: true }) },
        login: {
          kind: 'session',
          call: { method: 'GET', path: '/login', headers: { user: '{{ user }}', pass: '{{ password }}' } },
          token: 'session.token',
          headers: { auth_token: '{{ login.token }}' },
          logout: { method: 'POST', path: '/logout' },
        },
      },
      routes: {
        'GET /v1/login': ({ headers }) =>
          headers.pass === 'secret-1' ? { json: { session: { token: `session-${++sessions}` } } } : { status: 401 },
        'POST /v1/logout': { status: 204 },
        'GET /v1/things': ({ headers, query }) => {
          if (query.get('p') === '2' && headers.auth_token === 'session-1') return { status: 401 };
          return {
            json: { data: query.get('p') === '3' ? [] : ids(Number(query.get('p')), Number(query.get('p')) + 1) },
          };
        },
      },
    },
  );
  expect(outcome.rows).toEqual(numbers(1, 3));
  expect(sessions).toBe(2);
  expect(outcome.asked.at(-1)).toBe('POST /v1/logout');
});

it('takes the first login whose option is set, and sends basic credentials, keys and tokens where they belong', async () => {
  const service: Partial<ServiceDescription> = {
    options: { key: option.text({ about: 'Key.', secret: true }), user: option.text({ about: 'User.' }) },
    login: [
      { kind: 'key', when: 'key', query: { access_key: '{{ key }}' }, headers: { 'x-app': 'sluice' } },
      { kind: 'basic', when: 'user', user: '{{ user }}', password: 'pw-12345' },
      {
        kind: 'oauth',
        oauth: { grants: ['client_credentials'], token_url: 'https://api.acme.example/token', refresh: 'none' },
      },
    ],
    base: '{{ login.kept.host | default: https://api.acme.example }}/v1',
  };
  const routes: Routes = { 'GET /v1/things': { json: { data: [] } } };
  const sent = async (source: Record<string, unknown>, kept?: Record<string, string>) => {
    const { vendor } = await run({}, { routes, service, source, ...(kept && { kept }) });
    return vendor.asked[0]!;
  };
  const keyed = await sent({ key: 'key-12345' });
  expect([keyed.query.get('access_key'), keyed.headers['x-app'], keyed.headers.authorization]).toEqual([
    'key-12345',
    'sluice',
    undefined,
  ]);
  expect((await sent({ user: 'ann' })).headers.authorization).toBe(
    `Basic ${Buffer.from('ann:pw-12345').toString('base64')}`,
  );
  expect((await sent({}, { host: 'https://eu.acme.example' })).headers.authorization).toBe('Bearer token-1');
});

it('finds errors inside good answers, and tells the user what they mean', async () => {
  const rules = {
    errors: [
      { status: 200, body: { 'errors.*.code': ['601', '602'] }, verdict: 'login' as const },
      { status: 200, body: { 'errors.*.code': '606' }, verdict: 'wait' as const, wait: '0s' },
      { status: 200, body: { 'errors.*.code': '607' }, verdict: 'daily' as const },
      { status: 200, body: { success: false }, verdict: 'fail' as const, say: 'says no', next: 'ask somebody' },
    ],
    login: {
      kind: 'oauth',
      oauth: { grants: ['client_credentials'], token_url: 'https://x.example/t', refresh: 'none' },
    },
  } satisfies Partial<ServiceDescription>;
  const answer = (code: string) => ({ json: { success: false, errors: [{ code }] } });
  const given = (reply: object, times = 1): Given => ({
    service: rules,
    routes: { 'GET /v1/things': { json: { success: true, data: ids(0, 1) } } },
    faults: [{ at: 1, times, reply }],
  });
  for (const code of ['601', '606']) expect((await run({}, given(answer(code)))).rows).toEqual(numbers(0, 1));
  expect(await fail({}, given(answer('602'), 2))).toMatchObject({ code: 'SERVICE_LOGIN', family: 'login' });
  expect(await fail({}, given(answer('607')))).toMatchObject({ code: 'SERVICE_DAILY_LIMIT', family: 'try_later' });
  expect(await fail({}, given(answer('999')))).toMatchObject({
    code: 'SERVICE_FAILED',
    family: 'job',
    message: expect.stringContaining('says no'),
    next: 'ask somebody',
  });
});

it('keeps to a budget and pauses when little is left', async () => {
  const paging = { by: 'page', pages: 'pages' } as const;
  const request = { path: '/things', query: { p: '{{ page.number }}' } };
  const begun: number[] = [];
  const routes = (headers: Record<string, string>): Routes => ({
    'GET /v1/things': ({ query }) => {
      begun.push(performance.now());
      return { json: { data: ids(Number(query.get('p')), 99), pages: 4 }, headers };
    },
  });
  await run(
    { paging, request },
    { routes: routes({}), service: { budget: { rates: [{ requests: 2, within: '1s' }] } } },
  );
  // A bound from below is no measurement: a slow machine only adds to it.
  expect(begun[2]! - begun[0]!).toBeGreaterThan(950);
  begun.length = 0;
  const gauges = [
    {
      at: { header: 'usage', at: 'app.percent' },
      means: 'percent_used' as const,
      pause: { at: { header: 'usage', at: 'app.wait' }, unit: 'milliseconds' as const },
    },
  ];
  await run(
    { paging, request },
    {
      routes: routes({ usage: '{"app":{"percent":95,"wait":300}}' }),
      service: { budget: { gauges } },
      source: { timezone: 'UTC' },
    },
  );
  expect(begun[1]! - begun[0]!).toBeGreaterThan(280);
});

it('looks at all values inside a header to see whether little is left and how long to wait', async () => {
  const usage = (percent: number, minutes: number) => ({
    headers: {
      'x-usage': JSON.stringify({ a: [{ calls: 1, wait: 0 }], b: [{ calls: percent, wait: minutes, ms: 300 }] }),
    },
  });
  const at = (path: string) => ({ header: 'x-usage', at: path });
  let calls = 0;
  const routes: Routes = {
    'GET /v1/things': () => ({ ...usage(++calls === 1 ? 99 : 2, 0), json: { data: ids(calls, 2) } }),
  };
  const stream = { paging: { by: 'page' } } as const;
  const budget = {
    gauges: [{ at: at('*.*.calls'), means: 'percent_used', pause: { at: at('*.*.ms'), unit: 'milliseconds' } }],
  } as const;
  const began = performance.now();
  expect((await run(stream, { routes, service: { budget } })).rows).toEqual(numbers(1, 2));
  // A bound from below is no measurement.
  expect(performance.now() - began).toBeGreaterThan(280);
  const errors = [{ status: 400, verdict: 'wait', wait: { at: at('*.*.wait'), unit: 'minutes' } }] as const;
  const busy: Routes = { 'GET /v1/things': { status: 400, ...usage(2, 5), json: {} } };
  expect(await fail({}, { routes: busy, service: { errors } })).toMatchObject({
    family: 'try_later',
    retryAfterMs: 300_000,
  });
});

it('sends the token of a part instead of ours where the request says so', async () => {
  const login = { kind: 'key', headers: { authorization: 'Bearer {{ key }}' } } as const;
  const key = option.text({ about: 'The key.', secret: true });
  const routes: Routes = {
    'GET /v1/parts': { json: { parts: [{ id: 1, token: 'part-1' }, { id: 2 }] } },
    'GET /v1/things': ({ headers }) => ({ json: { data: [{ by: headers.authorization }] } }),
  };
  const stream: Partial<StreamData> = {
    partitions: { part: { request: { path: '/parts' }, records: 'parts', fields: { token: 'token' } } },
    request: { path: '/things', headers: { Authorization: 'Bearer {{ partition.part.token }}' } },
    columns: { by: 'text' },
  };
  const { rows } = await run(stream, { routes, service: { login, options: { key } }, source: { key: 'ours' } });
  expect(rows).toEqual([['Bearer part-1'], ['Bearer ours']]);
});

it('follows a redirect to another host without the credentials', async () => {
  const outcome = await run(
    { decode: 'raw', columns: { content: 'text' } },
    {
      service: { login: { kind: 'key', headers: { authorization: 'Bearer key-98765' } } },
      routes: {
        'GET /v1/things': ({ base }) => ({
          status: 302,
          headers: { location: `${base.replace('127.0.0.1', 'localhost')}/file` },
        }),
        'GET /file': ({ headers }) => ({ text: `authorization: ${headers.authorization}` }),
      },
    },
  );
  expect(outcome.rows).toEqual([['authorization: undefined']]);
});

it('refuses a description in which an option has the name of something else', () => {
  expect(() => caseOf({ options: { page: option.text({ about: 'No.' }) } }, { routes: {} })).toThrow(
    'cannot be called "page"',
  );
});

it('asks again for a file that is not ready yet', async () => {
  const outcome = await run(
    { decode: 'csv', errors: [{ status: 202, verdict: 'pending', wait: '0s' }] },
    { routes: { 'GET /v1/things': { text: 'id\n1\n' } }, faults: [{ at: 1, reply: { status: 202 } }] },
  );
  expect(outcome.rows).toEqual(numbers(1, 2));
});

it('gives a record once that stands on several pages', async () => {
  const outcome = await run(
    {
      distinct: 'id',
      paging: { by: 'token', at: 'next' },
      request: { path: '/things', query: { p: '{{ page.token }}' } },
    },
    {
      routes: {
        'GET /v1/things': ({ query }) =>
          query.has('p') ? { json: { data: ids(1, 4) } } : { json: { data: [...ids(0, 2), ...ids(0, 1)], next: 'p2' } },
      },
    },
  );
  expect(outcome.rows).toEqual(numbers(0, 4));
});

it('leaves no file open where a stream fails whose columns are found in its records', async () => {
  const page = { json: { data: ids(0, 2), next: 'p2' } };
  await fail(
    { columns: 'discovered', paging: { by: 'token', at: 'next' } },
    { routes: { 'GET /v1/things': page }, faults: [{ at: 2, reply: { status: 400 } }] },
  );
  const open = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  expect(open.filter((path) => path.includes('records.jsonl'))).toEqual([]);
});
