import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import db from '../../connectors/db/index.ts';
import { sqlserverDialect } from '../../connectors/db/sqlserver-dialect.ts';
import { loadTedious } from '../../connectors/db/sqlserver-driver.ts';
import { makeCertificates } from '../servers/certificates.ts';
import { freePort } from '../servers/free-port.ts';
import { check, countRows, extract, firstOf, problemOf, read, readOn } from './db-reader.ts';
import { type Answer, columns, done, error, row, startTdsServer, type TdsServer } from './doubles/tds-server.ts';
import { contextOf } from './harness.ts';

const collation = '09 04 d0 00 34';
const text = (value: string) => {
  const bytes = Buffer.from(value, 'utf16le');
  const length = Buffer.alloc(2);
  length.writeUInt16LE(bytes.length);
  return length.toString('hex') + bytes.toString('hex');
};

/** For each type: its TYPE_INFO, a value as sent on the wire, and the exact text that must result. */
const kinds: readonly [name: string, type: string, values: readonly (readonly [string, string | null])[]][] = [
  [
    'bit boolean',
    '68 01',
    [
      ['01 01', 'true'],
      ['01 00', 'false'],
      ['00', null],
    ],
  ],
  [
    'tinyint integer',
    '26 01',
    [
      ['01 ff', '255'],
      ['00', null],
    ],
  ],
  ['smallint integer', '26 02', [['02 00 80', '-32768']]],
  ['int integer', '26 04', [['04 ff ff ff 7f', '2147483647']]],
  [
    'bigint integer',
    '26 08',
    [
      ['08 ff ff ff ff ff ff ff 7f', '9223372036854775807'],
      ['08 01 00 00 00 00 00 20 00', '9007199254740993'],
    ],
  ],
  [
    'real float',
    '6d 04',
    [
      ['04 cd cc cc 3d', '0.1'],
      ['00', null],
    ],
  ],
  ['double float', '6d 08', [['08 9a 99 99 99 99 99 b9 3f', '0.1']]],
  [
    'money decimal',
    '6e 08',
    [
      ['08 ff ff ff 7f ff ff ff ff', '922337203685477.5807'],
      ['08 ff ff ff ff ff ff ff ff', '-0.0001'],
      ['00', null],
    ],
  ],
  ['smallmoney decimal', '6e 04', [['04 10 27 00 00', '1.0000']]],
  [
    'large decimal',
    '6a 11 26 0a',
    [
      ['11 01 ff ff ff ff 3f 22 8a 09 7a c4 86 5a a8 4c 3b 4b', '9999999999999999999999999999.9999999999'],
      ['11 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00', '-0.0000000001'],
      ['00', null],
    ],
  ],
  ['whole decimal', '6c 05 09 00', [['05 01 15 cd 5b 07', '123456789']]],
  [
    'day date',
    '28',
    [
      ['03 3e 49 0b', '2026-01-31'],
      ['03 00 00 00', '0001-01-01'],
      ['00', null],
    ],
  ],
  [
    'clock time',
    '29 07',
    [
      ['05 ff bf 69 2a c9', '23:59:59.9999999'],
      ['00', null],
    ],
  ],
  ['clock0 time', '29 00', [['03 7f 51 01', '23:59:59']]],
  [
    'moment timestamp',
    '2a 07',
    [
      ['08 ff bf 69 2a c9 3e 49 0b', '2026-01-31T23:59:59.9999999'],
      ['00', null],
    ],
  ],
  [
    'old timestamp',
    '6f 08',
    [
      ['08 b4 b3 00 00 01 00 00 00', '2025-12-15T00:00:00.003'],
      ['08 b4 b3 00 00 02 00 00 00', '2025-12-15T00:00:00.007'],
      ['08 b4 b3 00 00 03 00 00 00', '2025-12-15T00:00:00.010'],
      ['08 46 2e ff ff ff 81 8b 01', '1753-01-01T23:59:59.997'],
      ['00', null],
    ],
  ],
  ['small timestamp', '6f 04', [['04 b4 b3 3b 00', '2025-12-15T00:59:00']]],
  [
    'instant timestamptz',
    '2b 07',
    [
      ['0a ff bf 69 2a c9 3e 49 0b 78 00', '2026-02-01T01:59:59.9999999+02:00'],
      ['0a ff bf 69 2a c9 3e 49 0b a6 ff', '2026-01-31T22:29:59.9999999-01:30'],
      ['0a ff bf 69 2a c9 3e 49 0b 00 00', '2026-01-31T23:59:59.9999999Z'],
      ['00', null],
    ],
  ],
  [
    'guid uuid',
    '24 10',
    [
      ['10 33 22 11 00 55 44 77 66 88 99 aa bb cc dd ee ff', '00112233-4455-6677-8899-aabbccddeeff'],
      ['00', null],
    ],
  ],
  [
    'bytes binary',
    'a5 40 1f',
    [
      ['02 00 68 69', 'aGk='],
      ['ff ff', null],
    ],
  ],
  [
    'rest binary',
    'a5 ff ff',
    [
      ['02 00 00 00 00 00 00 00 01 00 00 00 68 01 00 00 00 69 00 00 00 00', 'aGk='],
      ['ff ff ff ff ff ff ff ff', null],
    ],
  ],
  [
    'words text',
    `e7 40 1f ${collation}`,
    [
      [text('Grüße 🙂'), 'Grüße 🙂'],
      [text(''), ''],
      ['ff ff', null],
    ],
  ],
  ['page text', `a7 40 1f ${collation}`, [['02 00 e9 80', 'é€']]],
  ['xml text', 'f1 00', [['fe ff ff ff ff ff ff ff 08 00 00 00 3c 00 61 00 2f 00 3e 00 00 00 00 00', '<a/>']]],
];

const series = (n: number): Answer =>
  function* () {
    yield columns([
      { name: 'i', type: '26 04' },
      { name: 'fill', type: `e7 40 1f ${collation}` },
    ]);
    const fill = text('x'.repeat(100));
    for (let i = 0; i < n; i += 100) {
      yield Buffer.concat(
        Array.from({ length: 100 }, (_, k) => {
          const number = Buffer.alloc(4);
          number.writeInt32LE(i + k);
          return row([`04${number.toString('hex')}`, fill]);
        }),
      );
    }
    yield done();
  };

describe('the SQL Server reader', () => {
  let server: TdsServer | undefined;
  afterEach(async () => {
    await expect.poll(() => server?.open() ?? 0).toBe(0);
    await server?.close();
    server = undefined;
  });
  const serve = async (answer: Answer) => {
    server = await startTdsServer(answer);
    return { url: `sqlserver://reader:tds-test-password@127.0.0.1:${server.port}/shop` };
  };

  it.each(kinds)('returns %s exactly', async (name, type, values) => {
    const [column, expected] = name.split(' ') as [string, string];
    const source = await serve(() => [columns([{ name: column, type }]), ...values.map(([hex]) => row([hex])), done()]);
    const found = await read(source, 'select 1');
    expect(found).toEqual({ columns: [`${column} ${expected}`], rows: values.map(([, value]) => [value]) });
  });

  it('binds values instead of inserting them into the statement', async () => {
    const source = await serve(() => [columns([{ name: 'i', type: '26 04' }]), done()]);
    await read(source, { sql: 'select @p1', parameters: ["'; drop table x --", 7, true, null, 1.5] });
    expect(server!.heard[0]).toContain('begin transaction');
    expect(server!.heard[1]).toContain('select @p1');
    expect(server!.heard[1]).toContain('@p1 nvarchar');
  });

  it('lists tables with types, keys, cursors and a query that reads them', async () => {
    const string = (name: string) => ({ name, type: `e7 40 1f ${collation}` });
    const names = ['schema_name', 'table_name', 'kind', 'column_name', 'type'].map(string);
    const of = (values: readonly string[], position: string) => row([...values.map(text), position]);
    const source = await serve(() => [
      columns([...names, { name: 'key_position', type: '26 04' }]),
      of(['', 'orders', 'table', 'id', 'bigint'], '04 01 00 00 00'),
      of(['', 'orders', 'table', 'updated_at', 'datetime2(7)'], '00'),
      of(['sales', 'totals]', 'view', 'n', 'decimal(12,2)'], '00'),
      done(),
    ]);
    expect(await db.discover!(contextOf(db, { source, query: {}, folder: '/nowhere' }))).toEqual([
      {
        name: 'orders',
        kind: 'table',
        columns: [
          { name: 'id', type: 'bigint' },
          { name: 'updated_at', type: 'datetime2(7)' },
        ],
        key: ['id'],
        cursors: ['updated_at', 'id'],
        query: { sql: 'select [id], [updated_at] from [orders] order by [id]' },
      },
      {
        name: 'sales.totals]',
        kind: 'view',
        columns: [{ name: 'n', type: 'decimal(12,2)' }],
        cursors: [],
        query: { sql: 'select [n] from [sales].[totals]]]' },
      },
    ]);
    expect(server!.heard.at(-1)).toContain('has_perms_by_name(concat(quotename(s.name)');
  });

  it('finds the primary key of a table that is read in chunks, in the database of the table', async () => {
    const string = (name: string) => ({ name, type: `e7 40 1f ${collation}` });
    const names = ['schema_name', 'table_name', 'kind', 'column_name', 'type'].map(string);
    const source = await serve((sql) =>
      sql.includes('sys.objects')
        ? [
            columns([...names, { name: 'key_position', type: '26 04' }]),
            row([...['dbo', 'orders', 'table', 'i', 'int'].map(text), '04 01 00 00 00']),
            done(),
          ]
        : [columns([{ name: 'i', type: '26 04' }]), done()],
    );
    expect((await read(source, { table: 'dbo.orders', chunks: { rows: 9 } })).rows).toEqual([]);
    expect((await read(source, { table: 'other].dbo.orders', chunks: { rows: 9 } })).rows).toEqual([]);
    const catalogues = server!.heard.filter((sql) => sql.includes('sys.objects'));
    expect(catalogues[0]).toContain('from sys.objects o');
    expect(catalogues[1]).toContain('from [other]]].sys.objects o');
    expect(server!.heard.at(-1)).toContain('from [other]]].[dbo].[orders]');
  });

  it('describes the server in check()', async () => {
    const string = (name: string) => ({ name, type: `e7 40 1f ${collation}` });
    const source = await serve(() => [
      columns(['a', 'b', 'c'].map(string)),
      row(['16.0.1', 'reader', 'shop'].map(text)),
      done(0xfd),
    ]);
    expect(await check(source)).toBe('SQL Server 16.0.1 as reader on shop');
  });

  it('applies backpressure while the consumer is slow, and returns every row', async () => {
    let sent = 0;
    const rows = series(100_000);
    const source = await serve(function* (sql) {
      for (const piece of rows(sql)) {
        sent++;
        yield piece;
      }
    });
    const { batches } = await extract(source, 'select i');
    const iterator = batches[Symbol.asyncIterator]();
    let read = (await iterator.next()).value!.length;
    let before = -1;
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(sent).toBeLessThan(900);
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) read += next.value.length;
    expect(read).toBe(100_000);
  });

  it('disconnects if the consumer stops early or the run is stopped', async () => {
    const source = await serve(series(50_000));
    const early = await firstOf(await extract(source, 'select i'));
    await early.return?.();
    const stop = new AbortController();
    const { batches } = await extract(source, 'select i', { signal: stop.signal });
    const reading = countRows(batches);
    stop.abort(new Error('stopped'));
    await expect(reading).rejects.toThrow('stopped');
  });

  it.each([
    ['an error in the query', 207, 'DB_QUERY_FAILED', 'job'],
    ['a deadlock', 1205, 'DB_SERVER_BUSY', 'try_later'],
    ['an error in square brackets', 1033, 'DB_QUERY_FAILED', 'job'],
  ])('reports %s', async (_title, number, code, family) => {
    const source = await serve(() => [error(number, 'the words of the server'), done(0xfe, true)]);
    const problem = await problemOf(read(source, 'select nothing'));
    expect(problem).toMatchObject({ code, family, seen: `error ${number}` });
    expect(problem.message).toContain('the words of the server');
  });

  it('never treats an incomplete result as complete', async () => {
    const source = await serve(function* (sql) {
      let n = 0;
      for (const piece of series(5000)(sql)) {
        if (++n === 20) yield undefined;
        yield piece;
      }
    });
    expect(await problemOf(read(source, 'select i'))).toMatchObject({ family: 'try_later' });
    await server!.close();
    const late = await serve(() => [
      columns([{ name: 'i', type: '26 04' }]),
      row(['04 01 00 00 00']),
      error(8134, 'Divide by zero'),
      done(0xfe, true),
    ]);
    expect(await problemOf(read(late, 'select i'))).toMatchObject({ code: 'DB_QUERY_FAILED' });
  });

  it('rejects a missing result, two results, duplicate column names and unnamed types', async () => {
    const one = columns([{ name: 'i', type: '26 04' }]);
    const answers: Record<string, Buffer[]> = {
      DB_NO_RESULT: [done()],
      DB_MANY_RESULTS: [one, row(['00']), one, row(['00']), done()],
      DB_DUPLICATE_COLUMN: [
        columns([
          { name: 'i', type: '26 04' },
          { name: 'i', type: '26 04' },
        ]),
        done(),
      ],
      DB_VALUE_TYPE: [columns([{ name: 'i', type: '62 49 1f 00 00' }]), done()],
    };
    for (const [code, pieces] of Object.entries(answers)) {
      const source = await serve(() => pieces);
      expect(await problemOf(read(source, 'select 1'))).toMatchObject({ code, family: 'job' });
      await server!.close();
    }
  });

  it('distinguishes a refused login, a server without TLS, and a closed port', async () => {
    const source = await serve(() => [done()]);
    const stranger = { url: source.url.replace('reader', 'stranger') };
    expect(await problemOf(check(stranger))).toMatchObject({
      code: 'DB_LOGIN_REFUSED',
      family: 'login',
      isLoginRefused: true,
    });
    const tls = await problemOf(check({ ...source, tls: { mode: 'verify' } }));
    expect(tls).toMatchObject({ code: 'DB_TLS_REFUSED', family: 'config' });
    const unreachable = { url: `sqlserver://a:b@127.0.0.1:${await freePort()}/shop` };
    expect(await problemOf(check(unreachable))).toMatchObject({ code: 'DB_UNREACHABLE', family: 'try_later' });
  });

  it('follows a redirect to another server, as sent by the Azure SQL gateway', async () => {
    await serve(() => [columns([{ name: 'a', type: '26 04' }]), row(['04 07 00 00 00']), done()]);
    const gateway = await startTdsServer(() => [], { redirect: { server: 'localhost', port: server!.port } });
    onTestFinished(() => gateway.close());
    const url = `sqlserver://reader:tds-test-password@127.0.0.1:${gateway.port}/shop`;
    expect((await read({ url }, { sql: 'select a from t' })).rows).toEqual([['7']]);
    expect(gateway.heard).toEqual([]);
  });

  it('continues from the exact cursor value of the last row', async () => {
    const source = await serve(() => [
      columns([{ name: 'at', type: '2a 07' }]),
      row(['08 ff bf 69 2a c9 3e 49 0b']),
      done(),
    ]);
    const query = { sql: 'select at from t', cursor: 'at', lag: '1s' };
    const first = await readOn(source, query);
    expect(await readOn(source, query, first.watermark)).toMatchObject({ rows: [], unchanged: true });
    expect(server!.heard.at(-1)).toContain("[at] >= '2026-01-31T23:59:58.9999999' or [at] is null");
  });

  it("says how to install the driver if it's missing", () => {
    expect(() => loadTedious('/nowhere', ['/nowhere/x.js'])).toThrow('the SQL Server driver is not installed');
  });
});

describe('a TLS connection to SQL Server', () => {
  let folder: string;
  let server: TdsServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-tds-'));
    const certificates = await makeCertificates(['DNS:localhost', 'DNS:db.test', 'IP:127.0.0.1']);
    await writeFile(join(folder, 'ca.pem'), certificates.ca);
    await writeFile(join(folder, 'stranger.pem'), (await makeCertificates(['DNS:localhost'])).ca);
    server = await startTdsServer(series(1000), { tls: certificates });
  });
  afterAll(async () => {
    // Undefined if `beforeAll` failed; then only its error should be shown.
    await server?.close();
    await rm(folder, { recursive: true });
  });
  const over = async (tls: object, host = 'localhost') => {
    const source = { url: `sqlserver://reader:tds-test-password@${host}:${server.port}/shop`, tls };
    const { batches } = await extract(source, 'select i', { folder });
    return countRows(batches);
  };

  it('trusts a certificate from the configured authority for the host or another configured name', async () => {
    expect(await over({ mode: 'verify', ca_file: 'ca.pem' })).toBe(1000);
    expect(await over({ mode: 'verify', ca_file: 'ca.pem' }, '127.0.0.1')).toBe(1000);
    expect(await over({ mode: 'verify', ca_file: 'ca.pem', servername: 'db.test' }, '127.0.0.1')).toBe(1000);
    expect(await over({ mode: 'require', verify: false })).toBe(1000);
  });

  it.each([
    ['another authority', { ca_file: 'stranger.pem' }],
    ['an unknown authority', {}],
    ['another name', { ca_file: 'ca.pem', servername: 'other.test' }],
  ])('rejects a certificate from %s', async (_title, tls) => {
    const problem = await problemOf(over({ mode: 'verify', ...tls }));
    expect(problem).toMatchObject({ code: 'DB_TLS_REFUSED', family: 'config' });
  });
});

describe('SQL Server syntax', () => {
  it.each([
    ['integer', '9007199254740993', '9007199254740993', []],
    ['decimal', '0.10', '0.10', []],
    [
      'timestamptz',
      '2026-01-31T10:00:00.1234567+02:00',
      "cast('2026-01-31T10:00:00.1234567+02:00' as datetimeoffset(7))",
      [],
    ],
    ['date', '2026-01-31', "cast('2026-01-31' as date)", []],
    ['binary', '3q0=', '0xdead', []],
    ['text', "it's", '@p3', ["it's"]],
  ] as const)('writes a bound of type %s', (type, value, sql, parameters) => {
    expect(sqlserverDialect.operand({ type, text: value }, [1, 2])).toEqual({ sql, parameters });
    expect(sqlserverDialect.quote('a]b')).toBe('[a]]b]');
  });

  it('converts a time that was read to the type of its column, but not the end of a range', () => {
    const bound = { type: 'timestamp', text: '2026-01-31T10:00:00.007' } as const;
    expect(sqlserverDialect.operand(bound, [])).toMatchObject({ sql: "'2026-01-31T10:00:00.007'" });
    expect(sqlserverDialect.operand(bound, [], true)).toMatchObject({
      sql: "cast('2026-01-31T10:00:00.007' as datetime2(7))",
    });
  });
});
