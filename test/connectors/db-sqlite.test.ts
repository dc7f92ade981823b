import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { check, countRows, extract, firstOf, problemOf, read } from './db-reader.ts';

describe('the SQLite reader', () => {
  let folder: string;
  const source = { driver: 'sqlite', file: 'shop.sqlite' };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-sqlite-'));
    const db = new SqliteDatabase(join(folder, 'shop.sqlite'));
    db.exec(`
      create table types (i integer, n varchar(20), r real, m decimal(12,2), b boolean, d date, dtm datetime,
        zoned timestamp, t time, j json, u uuid, x blob, empty);
      insert into types values (9223372036854775807, 'a"b,漢😀' || char(10), 0.1 + 0.2, 1e21, 1, '2024-02-29',
        '2024-02-29 12:34:56.789', '2024-02-29T12:34Z', '23:59:59', '{"n": 12345678901234567890123}',
        'ABCDEF01-2345-6789-ABCD-EF0123456789', x'00ff', null);
      insert into types values (-9223372036854775808, '', -0.0, '-1.50', 0, null, null, null, null, null, null, x'', null);
      create table mixed (id integer, n integer, d date);
      insert into mixed select value, value, '2024-01-01' from json_each('[' || substr(replace(hex(zeroblob(1500)), '00', ',1'), 2) || ']');
      update mixed set id = rowid;
      update mixed set n = 'many' where id = 1200;
      update mixed set d = 5 where id = 1300;
      create table shop (id integer, name text);
      insert into shop values (1, 'a'), (2, 'b');`);
    db.close();
    await writeFile(
      join(folder, 'other.txt'),
      'this is no database, but long enough to be looked at as if it were one',
    );
  });

  afterAll(() => rm(folder, { recursive: true }));

  const all = (query: Parameters<typeof read>[1]) => read(source, query, { folder });

  it('keeps the process alive until its child has exited, even if rows arrive while the reader closes', async () => {
    const child = new URL('sqlite-close-child.ts', import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, [child, join(folder, 'shop.sqlite')]);
    expect(stdout).toBe('closed');
  });

  it('describes the file in check()', async () => {
    expect(await check(source, { folder })).toMatch(/^SQLite 3\.\d+\.\d+ on .*shop\.sqlite$/);
  });

  it('returns every type in a row exactly', async () => {
    const { columns, rows } = await all('select * from types');
    expect(columns.map((column, c) => [column, rows[0]![c], rows[1]![c]])).toEqual([
      ['i integer', '9223372036854775807', '-9223372036854775808'],
      ['n text', 'a"b,漢😀\n', ''],
      ['r float', '0.30000000000000004', '0'],
      ['m decimal', '1000000000000000000000', '-1.5'],
      ['b boolean', 'true', 'false'],
      ['d date', '2024-02-29', null],
      ['dtm timestamp', '2024-02-29T12:34:56.789', null],
      ['zoned timestamptz', '2024-02-29T12:34:00Z', null],
      ['t time', '23:59:59', null],
      ['j json', '{"n": 12345678901234567890123}', null],
      ['u uuid', 'abcdef01-2345-6789-abcd-ef0123456789', null],
      ['x binary', 'AP8=', ''],
      ['empty integer', null, null],
    ]);
  });

  it("infers an undeclared column's type from its first rows", async () => {
    const sql = "select count(*) as n, sum(id) * 0.5 as f, max(name) as t, x'00' as x from shop";
    expect((await all(sql)).columns).toEqual(['n integer', 'f float', 't text', 'x binary']);
    const values = "select column1 as v from (values (1), ('a'), (2.5), (null))";
    expect(await all(values)).toEqual({ columns: ['v text'], rows: [['1'], ['a'], ['2.5'], [null]] });
  });

  it('names the row, the column and the fix for a value of the wrong type', async () => {
    const problem = await problemOf(all('select id, n from mixed order by id'));
    expect(problem).toMatchObject({
      code: 'DB_VALUE_TYPE',
      family: 'row',
      where: { row: 1200, column: 'n' },
      seen: '"many"',
    });
    expect(problem.next).toContain('cast(n as text) as n');
    const { rows } = await all('select cast(n as text) as n from mixed where id in (1, 1200)');
    expect(rows).toEqual([['1'], ['many']]);
    expect(await problemOf(all('select d from mixed order by id'))).toMatchObject({
      where: { row: 1300, column: 'd' },
    });
  });

  it('binds parameters as values, no matter what they contain', async () => {
    const hostile = '\'; drop table shop; -- " ?';
    const sql = 'select ? as a, ? as b, typeof(?) as c, ? as d, typeof(?) as e, (select count(*) from shop) as n';
    const { rows } = await all({ sql, parameters: [hostile, 9007199254740991, 5, true, 1.5] });
    expect(rows).toEqual([[hostile, '9007199254740991', 'integer', '1', 'real', '2']]);
  });

  it.each([
    ['insert into shop values (3, 3)', 'DB_NO_RESULT'],
    ['insert into shop values (3, 3) returning id', 'DB_WRITE_REFUSED'],
    ['drop table shop', 'DB_NO_RESULT'],
    ["vacuum into 'copy.sqlite'", 'DB_NO_RESULT'],
    ['selec 1', 'DB_QUERY_FAILED'],
    ['select 1; select 2', 'DB_QUERY_FAILED'],
    ['select * from nowhere', 'DB_QUERY_FAILED'],
    ['select ?', 'DB_QUERY_FAILED'],
    ['select :a', 'DB_QUERY_FAILED'],
    ['begin', 'DB_NO_RESULT'],
    ['select 1 as a, 2 as a', 'DB_DUPLICATE_COLUMN'],
  ])('fails the run for: %s', async (sql, code) => {
    expect(await problemOf(all(sql))).toMatchObject({ code, family: 'job' });
  });

  it("reports a config error for a missing file or one that isn't a database, and creates no file", async () => {
    for (const file of ['missing.sqlite', 'no/such/folder.sqlite', 'other.txt']) {
      expect(await problemOf(check({ driver: 'sqlite', file }, { folder }))).toMatchObject({
        code: 'DB_NO_FILE',
        family: 'config',
      });
    }
  });

  it('reports a config error for a folder', async () => {
    const problem = await problemOf(check({ driver: 'sqlite', file: '.' }, { folder }));
    expect(problem).toMatchObject({ code: 'DB_NO_FILE', family: 'config' });
  });

  it('reports a truncated file as damaged', async () => {
    const db = new SqliteDatabase(join(folder, 'whole.sqlite'));
    db.exec(
      'create table many as with recursive n(i) as (select 1 union all select i + 1 from n where i < 9999) select i from n',
    );
    db.close();
    const bytes = await readFile(join(folder, 'whole.sqlite'));
    await writeFile(join(folder, 'cut.sqlite'), bytes.subarray(0, 16_384));
    const problem = await problemOf(read({ driver: 'sqlite', file: 'cut.sqlite' }, 'select i from many', { folder }));
    expect(problem).toMatchObject({
      code: 'DB_FILE_DAMAGED',
      family: 'job',
      next: expect.stringContaining('integrity'),
    });
  });

  it('reports a try_later problem while another process locks the file', async () => {
    const holder = new SqliteDatabase(join(folder, 'shop.sqlite'));
    holder.exec('begin exclusive');
    const problem = await problemOf(
      read({ ...source, connect_timeout_seconds: 0.1 }, 'select 1 from shop', { folder }),
    );
    expect(problem).toMatchObject({ code: 'DB_SERVER_BUSY', family: 'try_later' });
    holder.exec('rollback');
    holder.close();
  });

  const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) select i from n';

  it('yields to the event loop between batches of a thousand rows', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const { batches } = await extract(source, numbers, { folder });
    expect(await countRows(batches)).toBe(20_000);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(1);
  });

  /** Computes for minutes before its first row. */
  const heavy =
    'with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000000) select count(*) as n from n';

  it("doesn't block the event loop while a query computes, and cancels it if the run is stopped", async () => {
    let turns = 0;
    const stop = new AbortController();
    const timer = setInterval(() => {
      turns++;
      if (turns === 50) stop.abort(new Error('enough'));
    }, 10);
    await expect(extract(source, heavy, { folder, signal: stop.signal })).rejects.toThrow('enough');
    clearInterval(timer);
    expect(turns).toBeGreaterThanOrEqual(50);
    expect(await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')).toBe('');
  });

  it("cancels a query that exceeds the source's time limit", async () => {
    const limited = { ...source, statement_timeout_seconds: 0.3 };
    expect(await problemOf(read(limited, heavy, { folder }))).toMatchObject({
      code: 'DB_STATEMENT_CANCELLED',
      family: 'job',
      seen: '0.3 s',
    });
  });

  it('stops if the run is stopped, and throws the reason', async () => {
    const stop = new AbortController();
    const iterator = await firstOf(await extract(source, numbers, { folder, signal: stop.signal }));
    stop.abort(new Error('enough'));
    await expect(iterator.next()).rejects.toThrow('enough');
  });

  it('closes the file if the consumer stops before the first row', async () => {
    const { batches } = await extract(source, numbers, { folder });
    await batches[Symbol.asyncIterator]().return?.();
    const writer = new SqliteDatabase(join(folder, 'shop.sqlite'), { busyTimeoutMs: 0 });
    expect(() => writer.exec('begin exclusive; rollback')).not.toThrow();
    writer.close();
  });

  it('closes the file if the consumer stops early', async () => {
    for await (const { length } of (await extract(source, numbers, { folder })).batches) {
      expect(length).toBe(1000);
      break;
    }
    const writer = new SqliteDatabase(join(folder, 'shop.sqlite'), { busyTimeoutMs: 0 });
    expect(() => writer.exec('begin exclusive; rollback')).not.toThrow();
    writer.close();
  });
});
