import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunWarning, withDefaults } from '#sdk';
import db from '../../connectors/db/index.ts';
import { check, countRows, extract, firstOf, type Options, problemOf, read, readOn } from '../connectors/db-reader.ts';
import { makeCertificates } from '../servers/certificates.ts';
import { type ClickhouseServer, startClickhouse } from '../servers/clickhouse.ts';
import { reportMissing } from '../servers/describe.ts';
import { hasVenv } from '../servers/python-venv.ts';

if (!hasVenv()) reportMissing('ClickHouse', ['ClickHouse'], 'python3-venv');
else {
  describe("ClickHouse's engine", () => {
    let server: ClickhouseServer;
    let source: Options;

    beforeAll(async () => {
      server = await startClickhouse();
      source = { url: server.url };
      await server.run('create database shop');
      await server.run(
        'create table shop.orders (id UInt64, name Nullable(String), amount Decimal(10, 2), updated_at DateTime64(3)) engine = MergeTree order by id',
      );
      await server.run(
        "insert into shop.orders select number + 1, if(number % 3 = 0, null, concat('Köln ', toString(number))), number / 4, toDateTime64('2026-01-01 00:00:00', 3, 'UTC') + number from numbers(5000)",
      );
      await server.run('create view shop.named as select id, name from shop.orders where name is not null');
    }, 600_000);
    afterAll(() => server?.stop());

    it('says its version, the user and the database in check()', async () => {
      expect(await check({ ...source, database: undefined })).toMatch(/^ClickHouse \d+\.\d+\S* as \S+ on default$/);
    });

    it('returns every type exactly', async () => {
      const sql = `select toInt64('-9223372036854775808') as i, toUInt256('115792089237316195423570985008687907853269984665640564039457584007913129639935') as u,
        toDecimal128('-0.10', 2) as d, 0.1 + 0.2 as f, toFloat32(0.1) as f4, 'a\\tb\\n"c\\\\d/é漢😀' as s, '' as empty,
        toDate('2024-02-29') as day, toDate32('1900-01-01') as early, toDateTime64('2024-07-01 12:00:00.123', 3, 'Europe/Berlin') as zoned,
        toDateTime('2024-01-01 12:00:00', 'UTC') as at, true as flag, cast(null as Nullable(Int8)) as nothing, toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0') as id,
        toFixedString('abc', 5) as fixed, toIPv4('10.0.0.1') as ip, cast('b', 'Enum8(\\'a\\' = 1, \\'b\\' = 2)') as kind, toLowCardinality('low') as low,
        [1, 2] as list, map('k', toDecimal64('1.50', 2)) as pairs, tuple(1, 'x')::Tuple(n Int8, s String) as named, cast(null as Nullable(String)) as absent`;
      const { columns, rows } = await read(source, sql);
      expect(Object.fromEntries(columns.map((column, c) => [column, rows[0]![c]]))).toEqual({
        'i integer': '-9223372036854775808',
        'u integer': '115792089237316195423570985008687907853269984665640564039457584007913129639935',
        'd decimal': '-0.10',
        'f float': '0.30000000000000004',
        'f4 float': '0.1',
        's text': 'a\tb\n"c\\d/é漢😀',
        'empty text': '',
        'day date': '2024-02-29',
        'early date': '1900-01-01',
        'zoned timestamptz': '2024-07-01T10:00:00.123Z',
        'at timestamptz': '2024-01-01T12:00:00Z',
        'flag boolean': 'true',
        'nothing integer': null,
        'id uuid': '61f0c404-5cb3-11e7-907b-a6006ad3dba0',
        'fixed text': 'abc',
        'ip text': '10.0.0.1',
        'kind text': 'b',
        'low text': 'low',
        'list json': '[1,2]',
        'pairs json': '{"k":1.50}',
        'named json': '{"n":1,"s":"x"}',
        'absent text': null,
      });
    });

    it('returns numbers that JSON does not have, in some rows of many', async () => {
      const sql =
        'select number as n, multiIf(number = 70000, nan, number = 70001, -inf, number = 70002, inf, number / 2) as f from numbers(100000)';
      const { columns, rows } = await read(source, sql);
      expect(columns).toEqual(['n integer', 'f float']);
      expect(rows).toHaveLength(100_000);
      expect(rows.slice(69_999, 70_004).map(([, f]) => f)).toEqual([
        '34999.5',
        'NaN',
        '-Infinity',
        'Infinity',
        '35001.5',
      ]);
      expect(rows.every(([n], i) => n === String(i))).toBe(true);
    });

    it('returns no rows, with the columns', async () => {
      expect(await read(source, 'select 1 as a where 0')).toEqual({ columns: ['a integer'], rows: [] });
    });

    it('reads a table with the columns that are asked for', async () => {
      const { columns, rows } = await read(source, { table: 'shop.orders', columns: ['id', 'amount'] });
      expect(columns).toEqual(['id integer', 'amount decimal']);
      expect(rows).toHaveLength(5000);
    });

    it('binds parameters, whatever is in them', async () => {
      const value = `'); drop table orders; -- \\ \t \n {p2:String} é`;
      const sql =
        'select {p1:String} as text, {p2:Int32} + 1 as number, {p3:Bool} as flag, {p4:Nullable(String)} as nothing';
      const { rows } = await read(source, { sql, parameters: [value, 41, true, null] });
      expect(rows).toEqual([[value, '42', 'true', null]]);
    });

    it.each([
      'insert into shop.orders values (0, null, 0, now())',
      'create table shop.t (a Int8) engine = Memory',
      'truncate table shop.orders',
      'drop table shop.orders',
    ])('refuses a statement that writes: %s', async (sql) => {
      expect(await problemOf(read(source, sql))).toMatchObject({ code: 'DB_WRITE_REFUSED', family: 'job' });
    });

    it.each<[string, Options, string, string, RegExp]>([
      ['a wrong password', { password: 'no' }, 'select 1 as a', 'DB_LOGIN_REFUSED login', /user and password/],
      [
        'a database that does not exist',
        { database: 'nowhere' },
        'select 1 as a',
        'DB_NO_DATABASE config',
        /fix the database option/,
      ],
      [
        'a user who cannot change settings',
        { user: 'locked' },
        'select 1 as a',
        'DB_SESSION_SETTING config',
        /readonly = 2/,
      ],
      ['a table that does not exist', {}, 'select * from shop.nothing', 'DB_QUERY_FAILED job', /fix the query/],
      ['a syntax error', {}, 'selekt 1', 'DB_QUERY_FAILED job', /fix the query/],
      ['a missing parameter', {}, 'select {p1:String} as a', 'DB_QUERY_FAILED job', /one parameter for each/],
      [
        'a query that is too slow',
        { statement_timeout_seconds: 1 },
        'select sleepEachRow(1) as a from numbers(10) settings max_block_size = 1',
        'DB_STATEMENT_CANCELLED job',
        /statement_timeout_seconds/,
      ],
      [
        'a query that needs too much memory',
        { session: { max_memory_usage: 10_000_000 } },
        'select groupArray(number) as a from numbers(100000000)',
        'DB_QUERY_FAILED job',
        /raise the limit/,
      ],
      ['a format of its own', {}, 'select 1 as a format JSON', 'DB_QUERY_FAILED job', /remove FORMAT/],
      [
        'the state of an aggregate function',
        {},
        'select uniqState(1) as a',
        'DB_VALUE_TYPE job',
        /finalizeAggregation/,
      ],
      ['two columns of one name', {}, 'select number, number from numbers(1)', 'DB_DUPLICATE_COLUMN job', /rename/],
    ])('says what happened and what to do: %s', async (_, options, sql, code, next) => {
      const parts = {
        driver: 'clickhouse',
        host: server.host,
        port: server.port,
        user: server.user,
        password: server.password,
      };
      const problem = await problemOf(read({ ...parts, ...options }, sql));
      expect(`${problem.code} ${problem.family}`).toBe(code);
      expect(problem.next).toMatch(next);
    });

    it.each(['', '/* old */'])('fails if the server throws an exception after rows, %s', async (comment) => {
      const sql = `select number as n, throwIf(number = 900000, 'as asked') as t from numbers(1000000) settings max_block_size = 1000 ${comment}`;
      const { batches } = await extract(source, sql);
      expect(await problemOf(countRows(batches))).toMatchObject({
        code: 'DB_QUERY_FAILED',
        family: 'job',
        message: expect.stringContaining('as asked'),
        seen: 'error 395',
      });
    });

    it('reads only what is new with a cursor', async () => {
      const query = { sql: 'select id, name, amount, updated_at from shop.orders', cursor: 'updated_at' };
      const first = await readOn(source, query);
      expect(first.rows).toHaveLength(5000);
      await server.run("insert into shop.orders values (9001, 'new', 1.5, '2027-01-01 00:00:00.5')");
      const second = await readOn(source, query, first.watermark);
      expect(second.rows).toEqual([['9001', 'new', '1.50', '2027-01-01T00:00:00.500Z']]);
      expect((await readOn(source, query, second.watermark)).rows).toEqual([]);
      await server.run('delete from shop.orders where id = 9001');
    });

    it.each([
      ['an integer', 'id', 'id'],
      ['text and an integer', ['label', 'id'], "id, concat('x', toString(id % 7)) as label"],
      ['a decimal and an integer', ['amount', 'id'], 'id, amount'],
      ['a time', 'updated_at', 'id, updated_at'],
      ['a UUID', 'key', 'id, reinterpretAsUUID(sipHash128(id)) as key'],
    ])('is read in chunks by %s', async (_, column, list) => {
      const { rows } = await read(source, { sql: `select ${list} from shop.orders`, chunks: { column, rows: 999 } });
      const ids = rows.map(([id]) => Number(id)).sort((a, b) => a - b);
      expect(ids).toEqual(Array.from({ length: 5000 }, (_, i) => i + 1));
    });

    it('lists tables and views with their columns, without a key, because keys are not unique', async () => {
      const found = await db.discover!({
        source: withDefaults(db.source, source),
        folder: '/nowhere',
        scratch: '/nowhere',
        signal: new AbortController().signal,
        log: { debug() {}, info() {}, warn() {} },
        pattern: 'shop.*',
      });
      expect(found).toEqual([
        expect.objectContaining({ name: 'shop.named', kind: 'view' }),
        {
          name: 'shop.orders',
          kind: 'table',
          columns: [
            { name: 'id', type: 'UInt64' },
            { name: 'name', type: 'Nullable(String)' },
            { name: 'amount', type: 'Decimal(10, 2)' },
            { name: 'updated_at', type: 'DateTime64(3)' },
          ],
          cursors: ['updated_at'],
          query: { sql: 'select `id`, `name`, `amount`, `updated_at` from `shop`.`orders`' },
        },
      ]);
    });

    it('has text in any encoding', async () => {
      const sql = "select number as id, if(number = 2000, unhex('636166e9'), 'é') as name from numbers(3000)";
      expect(await problemOf(read(source, sql))).toMatchObject({
        code: 'DB_BAD_TEXT',
        where: { row: 2001, column: 'name' },
      });
      const warnings: RunWarning[] = [];
      const replaced = await read({ ...source, bad_text: 'replace' }, sql, { onWarning: (one) => warnings.push(one) });
      expect(replaced.rows[2000]).toEqual(['2000', 'caf\ufffd']);
      expect(warnings).toEqual([expect.objectContaining({ code: 'CHARACTERS_REPLACED' })]);
      const latin = await read({ ...source, encoding: 'latin1' }, "select unhex('636166e9') as name");
      expect(latin.rows).toEqual([['café']]);
    });

    it('stops a query that is no longer read', async () => {
      const stop = new AbortController();
      const extraction = await extract(source, 'select number as n from numbers(1000000000)', { signal: stop.signal });
      const rows = await firstOf(extraction);
      stop.abort(new Error('enough'));
      await expect(rows.next()).rejects.toThrow('enough');
      // The double runs one query at a time, so that this one waits for the end of the other.
      expect((await read(source, 'select 1 as a')).rows).toEqual([['1']]);
    });

    it('is refused for a job that deletes rows by comparing keys, because two queries see different rows', async () => {
      const query = { sql: 'select id, updated_at from shop.orders', cursor: 'updated_at' };
      const problem = await problemOf(readOn(source, query, undefined, { comparedKey: ['id'] }));
      expect(problem).toMatchObject({ code: 'DB_NO_SNAPSHOT', family: 'config' });
    });
  });

  describe("ClickHouse's engine behind TLS", () => {
    let server: ClickhouseServer;
    let folder: string;

    beforeAll(async () => {
      const { ca, ...tls } = await makeCertificates(['DNS:clickhouse.test']);
      folder = await mkdtemp(join(tmpdir(), 'sluice-clickhouse-'));
      await writeFile(join(folder, 'ca.pem'), ca);
      server = await startClickhouse({ tls });
    }, 600_000);
    afterAll(async () => {
      await server?.stop();
      await rm(folder, { recursive: true });
    });

    it.each<[string, Options, RegExp]>([
      ['another authority', { mode: 'verify' }, /DB_TLS_REFUSED/],
      ['another name', { mode: 'verify', ca_file: 'ca.pem' }, /DB_TLS_REFUSED/],
      ['the right name', { mode: 'verify', ca_file: 'ca.pem', servername: 'clickhouse.test' }, /ClickHouse/],
      ['only the authority', { mode: 'verify-ca', ca_file: 'ca.pem' }, /ClickHouse/],
      ['no verification', { mode: 'require', verify: false }, /ClickHouse/],
    ])('is trusted as the options say: %s', async (_, tls, result) => {
      const said = await check({ url: server.url, tls }, { folder }).catch((thrown: { code: string }) => thrown.code);
      expect(said).toMatch(result);
    });
  });
}
