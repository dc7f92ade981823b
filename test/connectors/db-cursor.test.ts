import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { describeWithServer } from '../servers/describe.ts';
import { countRows, extract, problemOf, readOn, readRange } from './db-reader.ts';

/** A database with tables that a test writes to between incremental reads. */
interface Place {
  readonly source: () => Record<string, unknown>;
  run(sql: string): Promise<void>;
}

/** Tests that apply to every kind of database; `types` contains the database's type names. */
function itReadsOn({ source, run }: Place, types: { instant: string; decimal: string; text: string }): void {
  const query = (table: string, more: object = {}) => ({
    sql: `select id, at from ${table} order by id desc -- newest id first;`,
    cursor: 'at',
    ...more,
  });

  it('returns all rows the first time, then only new ones, and reports if there are no new rows', async () => {
    await run(`create table steps (id integer, at integer)`);
    await run(`insert into steps values (1, 10), (2, 20), (3, 20)`);
    const first = await readOn(source(), query('steps'));
    expect(first.rows.toSorted()).toEqual([
      ['1', '10'],
      ['2', '20'],
      ['3', '20'],
    ]);
    const second = await readOn(source(), query('steps'), first.watermark);
    expect(second).toMatchObject({ rows: [], unchanged: true, watermark: first.watermark });
    await run(`insert into steps values (4, 20), (5, 15), (6, 30)`);
    const third = await readOn(source(), query('steps'), second.watermark);
    expect(third).toMatchObject({
      rows: [
        ['4', '20'],
        ['6', '30'],
      ],
      unchanged: false,
    });
    expect((await readOn(source(), query('steps'), third.watermark)).rows).toEqual([]);
  });

  it('returns a changed row again even at the same cursor value, and equal rows as often as they occur', async () => {
    await run(`create table twins (id integer, at integer)`);
    await run(`insert into twins values (1, 10), (1, 10), (2, 10)`);
    const first = await readOn(source(), query('twins'));
    await run(`update twins set id = 7 where id = 2`);
    await run(`insert into twins values (1, 10)`);
    const second = await readOn(source(), query('twins'), first.watermark);
    expect(second.rows.toSorted()).toEqual([
      ['1', '10'],
      ['7', '10'],
    ]);
  });

  describe.each([{}, { lag: 50 }])('after its table is altered (options: %o)', (more) => {
    const all = (table: string) => ({ sql: `select * from ${table}`, cursor: 'at', ...more });

    it('compares rows by the original columns if a column was added, in any position', async () => {
      const table = `added_${Object.keys(more).length}`;
      await run(`create table ${table} (id integer, at integer)`);
      await run(`insert into ${table} values (1, 160), (2, 200), (2, 200)`);
      const first = await readOn(source(), all(table));
      await run(`alter table ${table} add column extra integer default 7`);
      const second = await readOn(source(), all(table), first.watermark);
      expect(second).toMatchObject({ rows: [], unchanged: true, again: undefined });
      await run(`insert into ${table} values (2, 200, 7), (3, 200, null), (4, 210, 7)`);
      const shuffled = { ...all(table), sql: `select extra, at, id from ${table}` };
      const third = await readOn(source(), shuffled, second.watermark);
      expect(third).toMatchObject({
        rows: expect.toSatisfy((rows) => rows.map(String).toSorted().join(' ') === ',200,3 7,200,2 7,210,4'),
        again: undefined,
      });
    });

    it("names a missing column if earlier rows can't be compared without it", async () => {
      const table = `dropped_${Object.keys(more).length}`;
      await run(`create table ${table} (id integer, at integer, extra integer)`);
      await run(`insert into ${table} values (1, 160, 7), (2, 200, 7)`);
      const first = await readOn(source(), all(table));
      await run(`alter table ${table} drop column extra`);
      const second = await readOn(source(), all(table), first.watermark);
      expect(second.rows.at(-1)).toEqual(['2', '200']);
      expect(second.again).toEqual({ why: 'columns_gone', columns: ['extra'] });
      await run(`delete from ${table}`);
      await run(`insert into ${table} values (3, 300)`);
      const moved = await readOn(source(), all(table), first.watermark);
      expect(moved, 'no row from before has come').toMatchObject({ rows: [['3', '300']], again: undefined });
    });

    it('treats decimals with more decimal places as equal', async () => {
      const table = `finer_${Object.keys(more).length}`;
      await run(`create table ${table} (at integer, price ${types.decimal})`);
      await run(`insert into ${table} values (200, 1.5), (200, 10)`);
      const places = (n: number) => ({
        ...all(table),
        sql: `select at, cast(price as decimal(9, ${n})) as price from ${table}`,
      });
      const first = await readOn(source(), places(1));
      expect(await readOn(source(), places(3), first.watermark)).toMatchObject({ rows: [], again: undefined });
    });
  });

  it('finds rows that were written late but within the lag, and returns no other row twice', async () => {
    await run(`create table late (id integer, at integer)`);
    await run(`insert into late values (1, 100), (2, 150), (3, 190), (4, 200)`);
    const asked = query('late', { lag: 50 });
    const first = await readOn(source(), asked);
    await run(`insert into late values (5, 149), (6, 160), (7, 210)`);
    const second = await readOn(source(), asked, first.watermark);
    expect(second.rows).toEqual([
      ['6', '160'],
      ['7', '210'],
    ]);
    await run(`delete from late where at > 200`);
    const third = await readOn(source(), asked, second.watermark);
    expect(third).toMatchObject({ rows: [], unchanged: true });
    expect(JSON.parse(third.watermark!).value).toBe('210');
  });

  it('keeps integers beyond 2^53 and decimals exact', async () => {
    await run(`create table large (id bigint, at ${types.decimal})`);
    await run(`insert into large values (9007199254740993, 0.10), (9007199254740992, 0.20)`);
    const byId = { ...query('large'), cursor: 'id' };
    const first = await readOn(source(), byId);
    expect(JSON.parse(first.watermark!).value).toBe('9007199254740993');
    await run(`insert into large values (9007199254740994, 0.30)`);
    expect((await readOn(source(), byId, first.watermark)).rows).toEqual([
      ['9007199254740994', expect.stringMatching(/^0.30?$/)],
    ]);
    const byAt = await readOn(source(), query('large', { lag: 1 }));
    await run(`insert into large values (1, -0.69), (2, -0.71)`);
    expect((await readOn(source(), query('large', { lag: 1 }), byAt.watermark)).rows).toEqual([['1', '-0.69']]);
  });

  it('keeps the fractional seconds of timestamps, and accepts a duration as lag', async () => {
    await run(`create table moments (id integer, at ${types.instant})`);
    const at = (clock: string) => `'2026-01-31 ${clock}'`;
    await run(`insert into moments values (1, ${at('10:00:00.000001')}), (2, ${at('10:00:00.000002')})`);
    const first = await readOn(source(), query('moments'));
    await run(
      `insert into moments values (3, ${at('10:00:00.000002')}), (4, ${at('10:00:00.000003')}), (5, ${at('09:59:59')})`,
    );
    const ids = async (more: object) =>
      (await readOn(source(), query('moments', more), first.watermark)).rows.map(([id]) => id);
    expect(await ids({})).toEqual(['3', '4']);
    expect(await ids({ lag: '1s' })).toEqual(['1', '3', '4']);
    expect(await ids({ lag: '10m' })).toEqual(['5', '1', '3', '4']);
  });

  it("accepts whole days as a date's lag", async () => {
    await run(`create table days (id integer, at date)`);
    await run(`insert into days values (1, '2026-02-28'), (2, '2026-03-01')`);
    const first = await readOn(source(), query('days', { lag: '1h' }));
    await run(`insert into days values (3, '2026-02-28'), (4, '2026-02-27'), (5, '2026-03-01')`);
    const second = await readOn(source(), query('days', { lag: '1h' }), first.watermark);
    expect(second.rows).toEqual([
      ['3', '2026-02-28'],
      ['5', '2026-03-01'],
    ]);
  });

  it('re-reads a range, from its start (inclusive) to its end (exclusive), without moving the watermark', async () => {
    await run(`create table ranges (id integer, at ${types.instant}, day date)`);
    const rows = [1, 2, 3, 4].map((n) => `(${n}, '2026-01-0${n} 23:30:00', '2026-01-0${n}')`);
    await run(`insert into ranges values ${rows.join(', ')}, (5, null, null)`);
    const again = async (cursor: string, from: string, to: string, timezone = 'UTC') => {
      const asked = { sql: 'select id, at, day from ranges where id > 0', cursor, null_cursors: 'leave_out' };
      const { watermark } = await readOn(source(), asked);
      const read = await readRange(source(), asked, { watermark, range: { from, to }, timezone });
      expect(read).toMatchObject({ cursor, moves: false });
      return { ids: read.rows.map(([id]) => id), covers: [read.covers?.from, read.covers?.to] };
    };
    expect(await again('id', '2', '4')).toEqual({ ids: ['2', '3'], covers: ['2', '4'] });
    expect(await again('day', '2026-01-02', '2026-01-03')).toMatchObject({ ids: ['2'] });
    expect(await again('at', '2026-01-02', '2026-01-04')).toMatchObject({ ids: ['2', '3'] });
    expect(await again('at', '2026-01-02T23:30', '2026-01-03T23:30:00')).toMatchObject({ ids: ['2'] });
    const wrong = await problemOf(again('day', '1', '9'));
    expect(wrong).toMatchObject({ code: 'CURSOR_RANGE', seen: '1' });
    const unread = readRange(
      source(),
      { sql: 'select id from ranges', cursor: 'id' },
      { range: { from: '1', to: '2' } },
    );
    expect(await problemOf(unread)).toMatchObject({
      code: 'CURSOR_RANGE',
      next: expect.stringContaining('sluice sync'),
    });
  });

  it('continues from a watermark that a user set, and includes all rows with that value', async () => {
    await run(`create table byhand (id integer, at date)`);
    await run(`insert into byhand values (1, '2026-01-01'), (2, '2026-01-02'), (3, '2026-01-03')`);
    const { watermark } = await readOn(source(), query('byhand'));
    const { column, type } = JSON.parse(watermark!) as Record<string, string>;
    const written = JSON.stringify({ column, type, value: '2026-01-02' });
    const { rows } = await readOn(source(), query('byhand'), written);
    expect(rows.map(([id]) => id)).toEqual(['2', '3']);
  });

  it('orders strings as the database does, including quotes', async () => {
    await run(`create table names (id integer, at ${types.text})`);
    await run(`insert into names values (1, 'a'), (2, 'it''s'), (3, 'b\\\\')`);
    const first = await readOn(source(), query('names'));
    await run(`insert into names values (4, 'it''s'), (5, 'zz')`);
    const second = await readOn(source(), query('names'), first.watermark);
    expect(second.rows).toEqual([
      ['4', "it's"],
      ['5', 'zz'],
    ]);
    const problem = await problemOf(readOn(source(), query('names', { lag: 5 }), first.watermark));
    expect(problem).toMatchObject({ code: 'CURSOR_LAG', family: 'job' });
  });

  it('reports a row without a cursor value, or skips such rows if configured', async () => {
    await run(`create table holes (id integer, at integer)`);
    await run(`insert into holes values (1, 10)`);
    const first = await readOn(source(), query('holes'));
    await run(`insert into holes values (2, null), (3, 11)`);
    for (const watermark of [undefined, first.watermark]) {
      const problem = await problemOf(readOn(source(), query('holes'), watermark));
      expect(problem).toMatchObject({ code: 'DB_NULL_IN_ORDER', family: 'job', where: { column: 'at' } });
      expect(problem.next).toContain('null_cursors');
    }
    const leaving = await readOn(source(), query('holes', { null_cursors: 'leave_out' }), first.watermark);
    expect(leaving.rows).toEqual([['3', '11']]);
  });

  it('rejects ambiguous columns, an unknown column, and a lag of the wrong type', async () => {
    await run(`create table odd (id integer, at double precision)`);
    await run(`insert into odd values (1, 0.5)`);
    expect(await problemOf(readOn(source(), query('odd')))).toMatchObject({ code: 'CURSOR_TYPE', family: 'job' });
    const missing = await problemOf(readOn(source(), { ...query('odd'), cursor: 'updated' }));
    expect(missing.message).toContain('updated');
    const first = await readOn(source(), { ...query('odd'), cursor: 'id' });
    const lag = await problemOf(readOn(source(), { ...query('odd', { lag: '5m' }), cursor: 'id' }, first.watermark));
    expect(lag).toMatchObject({ code: 'CURSOR_LAG', allowed: 'a number such as 1000' });
  });

  it('refuses to continue if the column has another type or the watermark is invalid', async () => {
    await run(`create table turned (id integer, at integer)`);
    await run(`insert into turned values (1, 5)`);
    const first = await readOn(source(), query('turned'));
    const other = { sql: `select id, '2026-01-01' as at from turned`, cursor: 'at' };
    const problem = await problemOf(
      readOn(source(), other, JSON.stringify({ ...JSON.parse(first.watermark!), value: '1' })),
    );
    expect(problem).toMatchObject({ code: 'CURSOR_TYPE', allowed: 'integer' });
    expect(await problemOf(readOn(source(), query('turned'), 'yesterday'))).toMatchObject({ code: 'CURSOR_WATERMARK' });
  });
}

describeWithServer({ servers: 'PostgreSQL' }, 'an incremental read in PostgreSQL', (server) => {
  let admin: pg.Client;
  beforeAll(async () => {
    admin = new pg.Client(server().url);
    await admin.connect();
  });
  afterAll(() => admin.end());
  const source = () => ({ url: server().url });
  const run = async (sql: string) => void (await admin.query(sql.replaceAll('\\\\', '\\')));

  itReadsOn({ source, run }, { instant: 'timestamptz', decimal: 'numeric(20,2)', text: 'text collate "C"' });

  it("binds the cursor value after the query's own values", async () => {
    await run('create table bound (id integer, kind text, at timestamp)');
    await run("insert into bound values (1, 'a', '2026-01-01'), (2, 'b', '2026-01-02')");
    const query = { sql: 'select id, at from bound where kind = $1', parameters: ['a'], cursor: 'at' };
    const first = await readOn(source(), query);
    await run("insert into bound values (3, 'a', '2026-01-03'), (4, 'b', '2026-01-03')");
    expect((await readOn(source(), query, first.watermark)).rows).toEqual([['3', '2026-01-03T00:00:00']]);
  });

  it('rejects infinity and UUIDs, and suggests an alternative for each', async () => {
    const infinity = await problemOf(readOn(source(), { sql: "select 'infinity'::timestamptz as at", cursor: 'at' }));
    expect(infinity).toMatchObject({ code: 'CURSOR_VALUE', seen: 'infinity' });
    const uuid = await problemOf(readOn(source(), { sql: 'select gen_random_uuid() as at', cursor: 'at' }));
    expect(uuid).toMatchObject({ code: 'CURSOR_TYPE', seen: 'uuid' });
    expect(uuid.next).toContain('UUIDv7');
  });

  it.each([
    ['1', 'at', '10m', 'a number such as 1000', /"lag: 1000"; or use a time column/],
    ["timestamptz '2026-01-01 00:00+00'", 'at', 90, '30s, 10m, 2h, 1d', /lag: 90s/],
    ["'a'::text", 'at', '10m', 'no lag', /remove lag/],
  ])('says which lag is valid for %s', async (value, cursor, lag, allowed, next) => {
    const problem = await problemOf(readOn(source(), { sql: `select ${value} as at`, cursor, lag }));
    expect(problem).toMatchObject({ code: 'CURSOR_LAG', seen: `lag: ${lag}`, allowed });
    expect(problem.next).toMatch(next);
  });

  it('finds rows written in the hour that clocks repeat in autumn, if the lag is longer than an hour', async () => {
    await run(`create table autumn (id integer, at timestamp)`);
    await run(`insert into autumn values (1, '2026-10-25 02:10:00.000001'), (2, '2026-10-25 02:59:59.999999')`);
    const local = { sql: 'select id, at from autumn', cursor: 'at', lag: '2h' };
    const first = await readOn(source(), local);
    expect(JSON.parse(first.watermark!).value).toBe('2026-10-25T02:59:59.999999');
    await run(`insert into autumn values (3, '2026-10-25 02:10:00.000001')`);
    expect((await readOn(source(), local, first.watermark)).rows.map(([id]) => id)).toEqual(['3']);
  });

  it('remembers a limited number of rows, even if more have the same cursor value', async () => {
    const query = { sql: 'select i, 1 as at from generate_series(1, 12000) i', cursor: 'at' };
    const first = await readOn(source(), query);
    expect(JSON.parse(first.watermark!).seen).toHaveLength(10_000);
    expect((await readOn(source(), query, first.watermark)).rows).toHaveLength(2000);
  });

  it.each([
    ['have the last value', 'select i, 1 as at from generate_series(1, 12000) i', {}, true],
    ['are within the lag', 'select i, i as at from generate_series(1, 12000) i', { lag: 11_000 }, true],
    ['are older than the lag', 'select i, i as at from generate_series(1, 12000) i', { lag: 9000 }, false],
    ['have an earlier value', 'select i, i / 11000 as at from generate_series(1, 12000) i', {}, false],
  ])('says whether rows will be returned again if more rows than it can remember %s', async (_, sql, more, isSo) => {
    const extraction = await extract(source(), { sql, cursor: 'at', ...more });
    expect(await countRows(extraction.batches)).toBe(12_000);
    expect(extraction.comesAgain!()).toEqual(isSo ? { why: 'too_many' } : undefined);
  });

  it("interprets a range's days in the job's time zone", async () => {
    await run(
      "create table zoned as select 1 as id, timestamptz '2026-03-28 23:30Z' as at union all select 2, '2026-03-29 21:30Z' union all select 3, '2026-03-29 22:00Z'",
    );
    const asked = { sql: 'select id, at from zoned', cursor: 'at' };
    const { watermark } = await readOn(source(), asked);
    const range = { from: '2026-03-29', to: '2026-03-30' };
    expect(await readRange(source(), asked, { watermark, range, timezone: 'Europe/Berlin' })).toMatchObject({
      rows: [
        ['1', expect.any(String)],
        ['2', expect.any(String)],
      ],
      covers: { column: 'at', from: '2026-03-28T23:00:00Z', to: '2026-03-29T22:00:00Z' },
    });
  });

  it('leaves no connection open, no matter what it rejects', async () => {
    const count = "select count(*)::int as n from pg_stat_activity where application_name = 'sluice'";
    await expect.poll(async () => (await admin.query(count)).rows[0].n).toBe(0);
  });
});

describeWithServer({ servers: 'MariaDB' }, 'an incremental read in MariaDB', (server) => {
  let admin: mysql.Connection;
  beforeAll(async () => {
    admin = await mysql.createConnection(server().url);
    await admin.query("set time_zone = '+00:00'");
  });
  afterAll(() => admin.end());
  const run = async (sql: string) => void (await admin.query(sql));
  const types = { decimal: 'decimal(20,2)', text: 'varchar(20) collate utf8mb4_bin' };
  const source = () => ({ url: server().url });

  itReadsOn({ source, run }, { ...types, instant: 'datetime(6)' });

  it('continues from a TIMESTAMP, even if the query binds values', async () => {
    await run('create table stamped (id integer, at timestamp(6) not null)');
    await run("insert into stamped values (1, '2026-01-31 10:00:00.000001'), (2, '2026-01-31 10:00:00.000002')");
    const query = { sql: 'select id, at from stamped where id > ?', parameters: [0], cursor: 'at' };
    const first = await readOn(source(), query);
    expect(JSON.parse(first.watermark!).value).toBe('2026-01-31T10:00:00.000002Z');
    await run("insert into stamped values (3, '2026-01-31 10:00:00.000003')");
    expect((await readOn(source(), query, first.watermark)).rows).toEqual([['3', '2026-01-31T10:00:00.000003Z']]);
  });

  it.each([{}, { lag: '1m' }])('treats times with more fractional digits as equal (options: %o)', async (more) => {
    const table = `sharper_${Object.keys(more).length}`;
    const all = { sql: `select * from ${table}`, cursor: 'at', ...more };
    await run(`create table ${table} (id integer, at datetime not null, day time)`);
    await run(`insert into ${table} values (1, '2026-01-31 10:00:00', '08:00:00'), (2, '2026-01-31 10:00:00', null)`);
    const first = await readOn(source(), all);
    await run(`alter table ${table} modify at datetime(6) not null, modify day time(3)`);
    expect(await readOn(source(), all, first.watermark)).toMatchObject({ rows: [], unchanged: true, again: undefined });
  });

  it('leaves no connection open, no matter what it rejects', async () => {
    const others = 'select count(*) as n from information_schema.processlist where id <> connection_id() and user = ?';
    const count = async () => Number(((await admin.query(others, ['sluice']))[0] as { n: number }[])[0]!.n);
    await expect.poll(count).toBe(0);
  });
});

describe('an incremental read in SQLite', () => {
  let folder: string;
  let db: SqliteDatabase;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-cursor-'));
    db = new SqliteDatabase(join(folder, 'a.sqlite'));
  });
  afterAll(async () => {
    db.close();
    await rm(folder, { recursive: true });
  });
  const source = () => ({ file: join(folder, 'a.sqlite') });
  const run = async (sql: string) => void db.exec(sql.replaceAll('\\\\', '\\'));

  itReadsOn({ source, run }, { instant: 'datetime', decimal: 'decimal(20,2)', text: 'text' });

  it('compares values as they are stored, in any format', async () => {
    await run("create table forms (id integer, at datetime); insert into forms values (1, '2026-01-31 10:00')");
    const query = { sql: 'select id, at from forms', cursor: 'at', lag: '5m' };
    const first = await readOn(source(), query);
    expect(first.rows).toEqual([['1', '2026-01-31T10:00:00']]);
    expect(JSON.parse(first.watermark!).value).toBe('2026-01-31 10:00');
    await run("insert into forms values (2, '2026-01-31 09:55'), (3, '2026-01-31 09:54'), (4, '2026-01-31 10:01')");
    expect((await readOn(source(), query, first.watermark)).rows.map(([id]) => id)).toEqual(['2', '4']);
  });
});
