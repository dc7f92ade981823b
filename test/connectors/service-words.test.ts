import { expect, it } from 'vitest';
import { option, type StreamData } from '../../src/sdk/index.ts';
import { fail, ids, numbers, run } from './doubles/acme.ts';
import type { Routes } from './doubles/vendor.ts';

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

it('loses nothing where the vendor stops counting: neither behind known records nor in one instant that holds too many', async () => {
  const all = [1, 2, 3, 4, 5].map((id) => ({ id, changed: `2026-01-0${id}T00:00:00Z` }));
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
  const watermark = '{"since":"2026-01-01T00:00:00Z","edge":["1"]}';
  expect((await run(stream, { routes, query, watermark })).rows.map(([id]) => id)).toEqual(['2', '3', '4', '5']);
  for (const one of all) one.changed = '2026-01-09T00:00:00Z';
  expect(await fail(stream, { routes, query })).toMatchObject({ code: 'SERVICE_CAP', family: 'job' });
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
