import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDefaults } from '#sdk';
import db from '../../connectors/db/index.ts';
import { check, countRows, extract, firstOf, type Options, problemOf, read, readOn } from '../connectors/db-reader.ts';
import { start } from '../journey/process.ts';
import { reportMissing } from '../servers/describe.ts';
import { duckdbFolder, hasDuckdb, lockingProgram, runDuckdb, runPyarrow } from '../servers/duckdb.ts';
import { venvOf } from '../servers/python-venv.ts';

/** One row with a value of each type: its SQL, the column type and the canonical text. */
const zoo: Readonly<Record<string, readonly [sql: string, type: string, text: string | null]>> = {
  flag: ['true', 'boolean', 'true'],
  tiny: ["'-128'::tinyint", 'integer', '-128'],
  big: ["'-9223372036854775808'::bigint", 'integer', '-9223372036854775808'],
  unsigned: ['18446744073709551615::ubigint', 'integer', '18446744073709551615'],
  huge: ["'-170141183460469231731687303715884105727'::hugeint", 'integer', '-170141183460469231731687303715884105727'],
  any_size: [
    "'123456789012345678901234567890123456789012345678901'::bignum",
    'integer',
    '123456789012345678901234567890123456789012345678901',
  ],
  exact: [
    "'-1234567890123456789012345678.1234567890'::decimal(38, 10)",
    'decimal',
    '-1234567890123456789012345678.1234567890',
  ],
  small: ['0.00::decimal(4, 2)', 'decimal', '0.00'],
  single: ['0.1::float', 'float', '0.1'],
  double: ['0.1::double + 0.2::double', 'float', '0.30000000000000004'],
  nan: ["'nan'::double", 'float', 'NaN'],
  infinite: ["'-inf'::float", 'float', '-Infinity'],
  text: [`'Köln "a" \\ 漢😀'`, 'text', 'Köln "a" \\ 漢😀'],
  empty: ["''", 'text', ''],
  absent: ['null::varchar', 'text', null],
  bytes: ["'\\x00\\xFF'::blob", 'binary', 'AP8='],
  day: ["date '2024-02-29'", 'date', '2024-02-29'],
  old_day: ["date '0044-03-15 (BC)'", 'date', '0044-03-15 BC'],
  last_day: ["date 'infinity'", 'date', 'infinity'],
  first_day: ["date '-infinity'", 'date', '-infinity'],
  clock: ["time '23:59:59.000001'", 'time', '23:59:59.000001'],
  zoned_clock: ["'10:11:12+02'::timetz", 'text', '10:11:12+02:00'],
  moment: ["timestamp '2024-01-01 00:00:00.000001'", 'timestamp', '2024-01-01T00:00:00.000001'],
  moment_s: ["'2024-01-01 12:00:00'::timestamp_s", 'timestamp', '2024-01-01T12:00:00'],
  moment_ms: ["'1969-12-31 23:59:59.999'::timestamp_ms", 'timestamp', '1969-12-31T23:59:59.999'],
  moment_ns: ["'2024-01-01 00:00:00.123456789'::timestamp_ns", 'timestamp', '2024-01-01T00:00:00.123456789'],
  old_moment: ["timestamp '0044-03-15 (BC) 01:02:03'", 'timestamp', '0044-03-15 01:02:03 BC'],
  last_moment: ["timestamp 'infinity'", 'timestamp', 'infinity'],
  first_moment_ns: ["'-infinity'::timestamp_ns", 'timestamp', '-infinity'],
  first_moment_ms: ["'-infinity'::timestamp_ms", 'timestamp', '-infinity'],
  first_moment_s: ["'-infinity'::timestamp_s", 'timestamp', '-infinity'],
  instant: ["timestamptz '2024-07-01 12:00:00.5+02'", 'timestamptz', '2024-07-01T10:00:00.5Z'],
  first_instant: ["timestamptz '-infinity'", 'timestamptz', '-infinity'],
  span: ["interval '14 months 2 days 03:04:05.25'", 'text', 'P1Y2M2DT3H4M5.25S'],
  back: ["interval '-14 months 2 days -1 hour -0.5 seconds'", 'text', 'P-1Y-2M2DT-1H-0.5S'],
  no_span: ["interval '0 days'", 'text', 'PT0S'],
  spans: ["[interval '1 day']", 'json', '["P1D"]'],
  id: ["'61f0c404-5cb3-11e7-907b-a6006ad3dba0'::uuid", 'uuid', '61f0c404-5cb3-11e7-907b-a6006ad3dba0'],
  kind: ["'b'::enum('a', 'b')", 'text', 'b'],
  bits: ["'0101'::bit", 'text', '0101'],
  list: ['[1.10::decimal(4, 2), null]', 'json', '[1.10,null]'],
  fixed: ['[0.1, 0.5]::float[2]', 'json', '[0.1,0.5]'],
  struct: [
    `{a: 9007199254740993, 'b "c"': {d: date '2024-01-01', e: 'x'::blob}}`,
    'json',
    '{"a":9007199254740993,"b \\"c\\"":{"d":"2024-01-01","e":"eA=="}}',
  ],
  map: ["map {'k': 1, 'l': null}", 'json', '{"k":1,"l":null}'],
  numbered: ['map {2: true}', 'json', '{"2":true}'],
  either: ['union_value(num := 3)', 'json', '3'],
  document: [`'{"a": 1.10}'::json`, 'json', '{"a": 1.10}'],
  unknown: ['null', 'integer', null],
};

if (!hasDuckdb()) reportMissing('DuckDB', ['DuckDB'], 'npm python3-venv');
else {
  describe('DuckDB', () => {
    let folder: string;
    const at = (name: string) => join(folder, name);
    const setting = () => ({ folder });
    const database: Options = { driver: 'duckdb', file: 'shop.duckdb' };
    const files: Options = { parquet: { sales: 'sales-*.parquet' } };
    const rowsOf = async (source: Options, sql: string) => (await read(source, sql, setting())).rows;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-duckdb-'));
      await symlink(join(await duckdbFolder(), 'node_modules'), at('node_modules'));
      const columns = Object.entries(zoo).map(([name, [sql]]) => `${sql} as "${name}"`);
      await runDuckdb(
        at('shop.duckdb'),
        `create table zoo as select ${columns.join(', ')}`,
        'create table orders (id integer primary key, name varchar, amount decimal(10, 2), updated_at timestamp_ns)',
        `insert into orders select range + 1, if(range % 3 = 0, null, 'Köln ' || range), (range / 4)::decimal(10, 2),
          make_timestamp_ns(1767225600000000000 + range) from range(5000)`,
        'create view named as select id, name from orders where name is not null',
        'create schema other',
        'create table other.lines (order_id integer, line integer, primary key (line, order_id))',
      );
      await runDuckdb(
        undefined,
        `copy (select range as id, range / 2 as half from range(1000)) to '${at('sales-1.parquet')}'`,
        `copy (select range as id, 'new' as note from range(1000, 1500)) to '${at('sales-2.parquet')}'`,
        `copy (select range as id, md5(range::varchar) as s from range(500000)) to '${at('large.parquet')}' (row_group_size 50000)`,
      );
    }, 600_000);
    afterAll(() => rm(folder, { recursive: true }));

    it('says its version and its files in check()', async () => {
      expect(await check(database, setting())).toBe(`DuckDB v1.5.6 on ${at('shop.duckdb')}`);
      expect(await check(files, setting())).toBe(`DuckDB v1.5.6 on ${at('sales-*.parquet')}`);
    });

    it('returns every type exactly', async () => {
      const { columns, rows } = await read(database, { table: 'zoo' }, setting());
      expect(columns).toEqual(Object.entries(zoo).map(([name, [, type]]) => `${name} ${type}`));
      expect(rows).toEqual([Object.values(zoo).map(([, , text]) => text)]);
    });

    it('returns no rows, with the columns', async () => {
      expect(await read(database, 'select id from orders where false', setting())).toEqual({
        columns: ['id integer'],
        rows: [],
      });
    });

    it('binds parameters, whatever is in them', async () => {
      const value = `'); drop table orders; -- \\ $2 é`;
      const query = { sql: 'select $1 as a, $2 + 1 as b, $3 as c, $4 as d', parameters: [value, 41, true, null] };
      expect((await read(database, query, setting())).rows).toEqual([[value, '42', 'true', null]]);
    });

    it('returns rows in the order of the query', async () => {
      const rows = await rowsOf({ parquet: { large: 'large.parquet' } }, 'select id from large order by s');
      const sorted = await rowsOf({ parquet: { large: 'large.parquet' } }, 'select id, s from large');
      sorted.sort(([, a], [, b]) => (a! < b! ? -1 : 1));
      expect(rows.map(([id]) => id)).toEqual(sorted.map(([id]) => id));
    });

    it.each([
      'insert into orders values (0, null, 0, null)',
      'update orders set name = null',
      'delete from orders',
      'drop table orders',
      'create table t (a integer)',
      'create temp table t (a integer)',
      'truncate orders',
      'checkpoint',
      'set threads = 1',
      'set variable a = 1',
      'call pragma_version()',
      'explain select 1',
      'select 1; select 2',
      "load 'httpfs'",
      '-- nothing',
    ])('refuses a statement that is not one query: %s', async (sql) => {
      expect(await problemOf(read(database, sql, setting()))).toMatchObject({
        code: 'DB_WRITE_REFUSED',
        family: 'job',
      });
    });

    it.each([
      "select * from read_text('/etc/passwd')",
      "select * from read_csv('/etc/passwd')",
      "select * from '/etc/passwd'",
      "select * from glob('/etc/*')",
      "select * from read_parquet('large.parquet')",
      "select * from sqlite_scan('a.db', 't')",
      "select * from 'http://127.0.0.1:1/x.parquet'",
      "copy orders to 'copy.csv'",
      "attach 'b.duckdb'",
      "export database 'copy'",
      'install httpfs',
    ])('has no access to anything but the files of the source: %s', async (sql) => {
      const problem = await problemOf(read({ ...database, ...files }, sql, setting()));
      expect(problem.code).toMatch(/^DB_(QUERY_FAILED|WRITE_REFUSED)$/);
    });

    it('fails if an error occurs after the first rows, which the package does not report', async () => {
      const sql = "select if(range = 900000, cast('x' || range as integer), range) as n from range(1000000)";
      const problem = await problemOf(read(database, sql, setting()));
      expect(problem).toMatchObject({ code: 'DB_QUERY_FAILED', family: 'job' });
      expect(problem.message).toContain("Could not convert string 'x900000' to INT32");
    });

    it('fails if a Parquet file is damaged, truncated or something else', async () => {
      const bytes = await readFile(at('large.parquet'));
      const damaged = Buffer.from(bytes);
      damaged.fill(0xa5, Math.floor(bytes.length * 0.7), Math.floor(bytes.length * 0.7) + 3000);
      await writeFile(at('damaged.parquet'), damaged);
      await writeFile(at('truncated.parquet'), bytes.subarray(0, bytes.length / 2));
      await writeFile(at('text.parquet'), 'id,name\n1,a\n');
      for (const name of ['damaged', 'truncated', 'text']) {
        const problem = await problemOf(read({ parquet: { t: `${name}.parquet` } }, 'select * from t', setting()));
        expect(problem, name).toMatchObject({ family: 'job', code: 'DB_FILE_DAMAGED' });
      }
    });

    it.each<[string, Options, Options, string, RegExp]>([
      ['a missing database', { driver: 'duckdb', file: 'none.duckdb' }, {}, 'DB_NO_FILE config', /none\.duckdb/],
      [
        'a file that is not a database',
        { driver: 'duckdb', file: 'large.parquet' },
        {},
        'DB_NO_FILE config',
        /in-memory/,
      ],
      ['no Parquet file', { parquet: { sales: 'none-*.parquet' } }, {}, 'DB_NO_FILE config', /none-\*\.parquet/],
      ['an unknown table', database, { sql: 'select * from nowhere' }, 'DB_QUERY_FAILED job', /nowhere/],
      ['a syntax error', database, { sql: 'selec 1' }, 'DB_QUERY_FAILED job', /syntax error/],
      ['a missing parameter', database, { sql: 'select $1 as a' }, 'DB_QUERY_FAILED job', /parameter/],
      [
        'too little memory',
        { ...database, session: { memory_limit: '20MB' } },
        { sql: 'select range as a, md5(range::varchar) as s from range(3000000) order by s' },
        'DB_QUERY_FAILED job',
        /Out of Memory/,
      ],
      ['a bad setting', { ...database, session: { memory_limit: 'much' } }, {}, 'DB_QUERY_FAILED job', /memory/i],
      ['two columns of one name', database, { sql: 'select 1 as a, 2 as a' }, 'DB_DUPLICATE_COLUMN job', /"a"/],
    ])('reports %s', async (_, source, query, kind, message) => {
      const problem = await problemOf(read(source, { sql: 'select 1 as a', ...query }, setting()));
      expect(`${problem.code} ${problem.family}`).toBe(kind);
      expect(problem.message).toMatch(message);
    });

    it('reports a database that a program has open for writing as busy', async () => {
      await copyFile(at('shop.duckdb'), at('locked.duckdb'));
      const writer = await startWriter(at('locked.duckdb'));
      const locked = { ...database, file: 'locked.duckdb' };
      expect(await problemOf(read(locked, 'select 1 as a', setting()))).toMatchObject({ code: 'DB_SERVER_BUSY' });
      await stop(writer);
      expect(await rowsOf(locked, 'select 1 as a')).toEqual([['1']]);
    });

    it('fails if a file is replaced during the read', async () => {
      await copyFile(at('large.parquet'), at('moving.parquet'));
      const { batches } = await extract({ parquet: { t: 'moving.parquet' } }, 'select * from t', setting());
      await copyFile(at('sales-1.parquet'), at('next.parquet'));
      await rename(at('next.parquet'), at('moving.parquet'));
      expect(await problemOf(countRows(batches))).toMatchObject({ code: 'DB_FILE_CHANGED', family: 'try_later' });
    });

    it('stops a query when its reader stops, and one that exceeds its time', async () => {
      const stopped = new AbortController();
      const endless = 'select count(*) as n from range(100000000000) a where a.range % 7 = 8';
      const reading = extract(database, endless, { ...setting(), signal: stopped.signal });
      setTimeout(() => stopped.abort(new Error('enough')), 300);
      await expect(reading).rejects.toThrow('enough');
      const limited = { ...database, statement_timeout_seconds: 0.5 };
      expect(await problemOf(read(limited, endless, setting()))).toMatchObject({ code: 'DB_STATEMENT_CANCELLED' });
      const rows = await firstOf(await extract(database, 'select range as n from range(100000000)', setting()));
      await rows.return?.();
    });

    it('has the columns of all Parquet files of a table', async () => {
      const { columns, rows } = await read(files, 'select * from sales order by id', setting());
      expect(columns).toEqual(['id integer', 'half float', 'note text']);
      expect(rows).toHaveLength(1500);
      expect(rows[999]).toEqual(['999', '499.5', null]);
      expect(rows[1499]).toEqual(['1499', null, 'new']);
    });

    it('finds files by absolute paths, globs and lists', async () => {
      for (const sales of [at('sales-*.parquet'), [at('sales-1.parquet'), 'sales-2.parquet'], ['sales-1.*', 'sales-*']])
        expect(await rowsOf({ parquet: { sales } }, 'select count(*) as n from sales')).toEqual([['1500']]);
    });

    it('joins a database and Parquet files', async () => {
      const sql = 'select count(*) as n, sum(o.amount) as amount from orders o join sales s using (id)';
      expect((await read({ ...database, ...files }, sql, setting())).rows).toEqual([['1499', '280687.75']]);
    });

    it("returns what Apache Arrow's library has written exactly", async () => {
      await runPyarrow(arrowProgram, folder);
      const { columns, rows } = await read({ parquet: { arrow: 'arrow-*.parquet' } }, 'select * from arrow', setting());
      expect(columns).toEqual([
        'i integer',
        'u integer',
        'd decimal',
        's text',
        'ns timestamp',
        'zoned timestamptz',
        'day date',
        'l json',
        'st json',
        'dict text',
        'b binary',
        'f float',
      ]);
      const row = [
        '-9223372036854775808',
        '18446744073709551615',
        '-0.10',
        'Köln',
        '2024-01-01T00:00:00.123456789',
        '2024-07-01T10:00:00.5Z',
        '2024-02-29',
        '[1,null]',
        '{"a":1.50}',
        'x',
        'AP8=',
        '0.1',
      ];
      expect(rows).toEqual(
        ['zstd', 'snappy', 'gzip', 'brotli', 'lz4', 'none'].flatMap(() => [row, row.map(() => null)]),
      );
    });

    it('reads on after the highest value of a cursor, with all its digits', async () => {
      for (const [cursor, added] of [
        ['updated_at', 'make_timestamp_ns(1767225600000005000)'],
        ['amount', '1250.01'],
        ['id', '5001'],
      ] as const) {
        const name = `cursor-${cursor}.duckdb`;
        await copyFile(at('shop.duckdb'), at(name));
        const source = { ...database, file: name };
        const query = { sql: 'select * from orders', cursor };
        const first = await readOn(source, query, undefined, setting());
        expect(first.rows).toHaveLength(5000);
        const row = {
          id: '5001',
          name: "'new'",
          amount: '9999',
          updated_at: "timestamp_ns '2027-01-01'",
          [cursor]: added,
        };
        await runDuckdb(at(name), `insert into orders values (${Object.values(row).join(', ')})`);
        const next = await readOn(source, query, first.watermark, setting());
        expect(
          next.rows.map(([id]) => id),
          cursor,
        ).toEqual(['5001']);
        expect(await readOn(source, query, next.watermark, setting())).toMatchObject({ rows: [], unchanged: true });
      }
    });

    it('lists tables, views, keys and Parquet files in discover()', async () => {
      const source = withDefaults(db.source, { ...database, ...files });
      const log = { debug() {}, info() {}, warn() {} };
      const found = await db.discover!({
        source,
        folder,
        signal: new AbortController().signal,
        log,
        scratch: folder,
      } as never);
      expect(found.map(({ name, kind, key, cursors }) => [name, kind, key, cursors])).toEqual([
        ['named', 'view', undefined, []],
        ['orders', 'table', ['id'], ['updated_at', 'id']],
        ['sales', 'view', undefined, []],
        ['zoo', 'table', undefined, []],
        ['other.lines', 'table', ['line', 'order_id'], []],
      ]);
      for (const { query } of found) await read({ ...database, ...files }, query as Options, setting());
    });

    it('says how to install the package', async () => {
      const problem = await problemOf(read(database, 'select 1 as a', { folder: tmpdir() }));
      expect(problem).toMatchObject({ code: 'DB_DRIVER_MISSING', family: 'config' });
      expect(problem.next).toContain('npm install @duckdb/node-api');
    });

    it('is read by the built package', async () => {
      await writeFile(at('sluice.yaml'), config);
      const { code, stdout, stderr } = await start(['sync', 'sales', '--to', 'sum.csv'], { cwd: folder }).ended;
      expect(code, stdout + stderr).toBe(0);
      expect(await readFile(at('sum.csv'), 'utf8')).toMatch(/^n,half\r?\n1500,249750(\.0)?\r?\n$/);
    });

    async function startWriter(path: string): Promise<ChildProcess> {
      const program = join(await venvOf('buenavista'), 'bin/python3');
      const writer = spawn(program, ['-c', lockingProgram(path)], { stdio: ['pipe', 'pipe', 'inherit'] });
      await once(writer.stdout!, 'data');
      return writer;
    }

    async function stop(writer: ChildProcess): Promise<void> {
      const gone = once(writer, 'exit');
      writer.kill('SIGKILL');
      await gone;
    }
  });
}

const config = `
version: 1
destinations: { here: { url: "http://127.0.0.1:1/api/1.0", api_key: unused } }
sources: { files: { connector: db, parquet: { sales: sales-*.parquet } } }
jobs:
  sales:
    source: files
    query: select count(*) as n, sum(half) as half from sales
    format: csv
    target: { datasource: { name: sales } }
`;

const arrowProgram = `
import datetime as t, decimal as d, pyarrow as pa, pyarrow.parquet as pq
zone = t.timezone(t.timedelta(hours=2))
row = {
  'i': pa.array([-2**63, None], pa.int64()),
  'u': pa.array([2**64 - 1, None], pa.uint64()),
  'd': pa.array([d.Decimal('-0.10'), None], pa.decimal128(38, 2)),
  's': pa.array(['Köln', None]),
  'ns': pa.array([1704067200123456789, None], pa.timestamp('ns')),
  'zoned': pa.array([t.datetime(2024, 7, 1, 12, 0, 0, 500000, zone), None], pa.timestamp('us', 'Europe/Berlin')),
  'day': pa.array([t.date(2024, 2, 29), None]),
  'l': pa.array([[1, None], None], pa.list_(pa.int8())),
  'st': pa.array([{'a': d.Decimal('1.50')}, None], pa.struct([('a', pa.decimal128(5, 2))])),
  'dict': pa.array(['x', None]).dictionary_encode(),
  'b': pa.array([b'\\x00\\xff', None]),
  'f': pa.array([0.1, None], pa.float32()),
}
for n, codec in enumerate(['zstd', 'snappy', 'gzip', 'brotli', 'lz4', 'none']):
  pq.write_table(pa.table(row), f'arrow-{n}.parquet', compression=codec)
`;
