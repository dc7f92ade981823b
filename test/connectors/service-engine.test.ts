import { readdirSync, readlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  type Fields,
  option,
  type RecordInput,
  type ServiceDescription,
  type StreamData,
  xmlParts,
} from '../../src/sdk/index.ts';
import { basics, caseOf, fail, type Given, ids, numbers, run } from './doubles/acme.ts';
import type { Routes } from './doubles/vendor.ts';

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

it('reads an answer of any size with code of the service, the elements that it wants out of XML', async () => {
  async function* read(input: RecordInput): AsyncGenerator<Fields> {
    for await (const { name, value } of xmlParts(input.open(), ['row', 'end'])) yield { name, value };
  }
  const text = `<a><head>no</head>${'<row><row>1</row></row>\n'.repeat(1500)}<x:end xmlns:x="y" n="2">é</x:end></a>`;
  const columns = { name: 'text', value: 'json' } as const;
  const { rows } = await run({ decode: { as: 'stream', read }, columns }, { routes: { 'GET /v1/things': { text } } });
  expect(rows).toHaveLength(1501);
  expect([rows[0], rows.at(-1)]).toEqual([
    ['row', '{"row":"1"}'],
    ['end', '{"@n":"2","#text":"é"}'],
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
