import { readdirSync, readlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Fields, option, type RecordInput, type StreamData, xmlParts } from '../../../src/sdk/index.ts';
import { fail, ids, numbers, run } from '../doubles/acme.ts';
import type { Routes } from '../doubles/vendor.ts';

describe("a service's responses", () => {
  it('can be a list, or contain records at a wildcard path, below a header row or as names next to values', async () => {
    const read = async (records: StreamData['records'], json: unknown) =>
      await run({ records, columns: 'discovered' }, { routes: { 'GET /v1/things': { json } } });
    expect((await read('', [{ id: 1 }, { id: 2 }])).rows).toEqual([['1'], ['2']]);
    expect(
      (await read('*.results', [{ results: [{ id: 1 }] }, { results: [] }, { results: [{ id: 2 }] }])).rows,
    ).toEqual([['1'], ['2']]);
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
    expect((await read({ one: 'thing' }, { thing: { id: 1 } })).rows).toEqual([['1']]);
    expect((await run({ absent: 'ok' }, { routes: { 'GET /v1/things': { json: { ok: true } } } })).rows).toEqual([]);
  });

  it.each<[string, StreamData['records'], unknown]>([
    ['is missing', 'data', { error: 'no' }],
    ['is null', 'data', { data: null, error: 'no' }],
    ['is a single record', 'data', { data: { error: 'no' } }],
    ['is a string', 'data', { data: 'no' }],
    ['is the document', '', { error: 'no' }],
    ['is missing in an item of a list', '*.results', [{ results: [] }, { error: 'no' }]],
    ['should be a table', { at: 'values', table: 'header_row' }, { error: 'no' }],
    [
      'has fewer values than names',
      { at: 'r', zip: [{ names: 'c.*', values: 'd.*.v' }] },
      { c: ['a', 'b'], r: [{ d: [{ v: 1 }, {}] }] },
    ],
    ['should be one record', { one: 'thing' }, { thing: [{ id: 1 }] }],
  ])('are rejected if the list of records %s', async (_, records, json) => {
    const problem = await fail({ records, columns: 'discovered' }, { routes: { 'GET /v1/things': { json } } });
    expect(problem).toMatchObject({ code: 'SERVICE_NO_LIST', seen: JSON.stringify(json) });
  });

  it.each([
    [202, 'SERVICE_ACCEPTED'],
    [204, 'SERVICE_NO_LIST'],
    [206, 'SERVICE_PARTIAL'],
    [304, 'SERVICE_FAILED'],
  ])('are rejected if a page has status %i', async (status, code) => {
    const json = { data: ids(0, 1) };
    const routes = { 'GET /v1/things': status === 202 || status === 206 ? { status, json } : { status } };
    expect(await fail({}, { routes })).toMatchObject({ code });
  });

  it("keep the vendor's digits in both declared and discovered columns", async () => {
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

  it("can have dates in vendors' own formats", async () => {
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

  it("have days and times in the service's time zone, regardless of the run's", async () => {
    const stream: Partial<StreamData> = {
      request: { path: '/things', query: { since: '{{ since | in: UTC | format: YYYY-MM-DD HH:mm:ss }}' } },
      incremental: { column: 'changed', key: 'id' },
      columns: {
        id: 'integer',
        due: { type: 'date', date: 'dotnet', zone: 'UTC' },
        changed: { type: 'timestamptz', date: 'local', zone: 'UTC' },
      },
    };
    const routes = {
      'GET /v1/things': {
        json: { data: [{ id: 1, due: '/Date(1767225600000+0000)/', changed: '2026-01-02T03:04:05' }] },
      },
    };
    const query = { incremental: true };
    const given = { routes, query, timezone: 'America/New_York' };
    const { rows, watermark } = await run(stream, given);
    expect(rows).toEqual([['1', '2026-01-01', '2026-01-02T03:04:05Z']]);
    const again = await run(stream, { ...given, watermark: watermark! });
    expect(again).toMatchObject({ rows: [], asked: ['GET /v1/things?since=2026-01-02 03:04:05'] });
  });

  it("of any size can be parsed by the service's own code, one XML element at a time", async () => {
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

  it('can be CSV, JSON lines, XML or raw text', async () => {
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
      {
        decode: 'xml',
        records: 'Envelope.Body.rows.row',
        columns: { id: { type: 'integer', at: '@id' }, name: 'text' },
      },
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

  it("are treated as a message, never as a table, if they contain JSON instead of the table's format", async () => {
    const errors = [{ body: { 'error.code': 606 }, verdict: 'wait', wait: '0s' }] as const;
    const stream: Partial<StreamData> = { decode: 'csv', errors };
    const reply = { text: '\n{"error":{"code":606}}', headers: { 'content-type': 'text/csv' } };
    const routes = { 'GET /v1/things': { text: 'id\n1\n', headers: { 'content-type': 'text/csv' } } };
    expect((await run(stream, { routes, faults: [{ at: 1, reply }] })).rows).toEqual([['1']]);
    const other = await fail(stream, { routes: { 'GET /v1/things': { json: { id: 1 } } }, source: { retries: 0 } });
    expect(other).toMatchObject({ code: 'SERVICE_UNREADABLE', seen: '{"id":1}' });
  });

  it('can come with a separate list of columns', async () => {
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

  it('contain the requested columns after the permanent ones; unknown columns are rejected', async () => {
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
      allowed: 'born … (3 in total)',
    });
  });

  it('leave no file open if a stream that takes its columns from the records fails', async () => {
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
});
