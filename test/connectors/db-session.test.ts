import mysql from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { Problem, withDefaults } from '#sdk';
import db from '../../connectors/db/index.ts';
import { beginMysql } from '../../connectors/db/mysql-begin.ts';
import { beginPostgres } from '../../connectors/db/postgres-begin.ts';
import { describeWithServer } from '../servers/describe.ts';
import { check, type Options, problemOf, read } from './db-reader.ts';

it.each<[Options, string[]]>([
  [{ url: 'postgres://a@b', session: { search_path: 'x', 'my.setting': 1, work_mem: '64MB' } }, []],
  [{ url: 'postgres://a@b', session: { Transaction_Read_Only: 'off' } }, ['cannot contain Transaction_Read_Only']],
  [{ url: 'postgres://a@b', session: { default_transaction_isolation: 'x' } }, ['cannot contain default_tran']],
  [{ url: 'postgres://a@b', session: { datestyle: 'x', TimeZone: 'y' } }, ['contain datestyle', 'contain TimeZone']],
  [{ url: 'postgres://a@b', session: { xmlbinary: 'hex', lc_monetary: 'C' } }, ['contain xmlbinary', 'lc_monetary']],
  [{ url: 'mysql://a@b', session: { sql_select_limit: 9 } }, ['cannot contain sql_select_limit, which could change']],
  [{ url: 'mysql://a@b', session: { collation_connection: 'x' } }, ['cannot contain collation_connection']],
  [{ url: 'postgres://a@b', session: { "x = 1; set y'": 1 } }, ['has an invalid name']],
  [{ url: 'mysql://a@b', session: { group_concat_max_len: 9 } }, []],
  [{ url: 'mariadb://a@b', session: { tx_read_only: 0, autocommit: 1 } }, ['contain tx_read_only', 'autocommit']],
  [{ file: 'a', session: { x: 1 } }, ['is only for PostgreSQL']],
  [{ file: 'a', statement_timeout_seconds: 1 }, []],
  [{ file: 'a', transaction: 'none' }, ['does not apply to SQLite']],
])('settings of the session are checked before anything runs: %j', (source, reasons) => {
  const found = db.validate!({ source: withDefaults(db.source, source) });
  expect(found).toHaveLength(reasons.length);
  found.forEach(({ option, message }, i) => {
    expect(option).toBe('transaction' in source ? 'transaction' : 'session');
    expect(message).toContain(reasons[i]!);
  });
});

describe('a server that supports only some statements', () => {
  /** Refuses some statements with an error that the driver has converted. */
  const server = (refusals: readonly (readonly [RegExp, object])[], runs: string[] = []) => ({
    runs,
    isMariadb: false,
    run: async (sql: string) => {
      runs.push(sql);
      const [, cause] = refusals.find(([pattern]) => pattern.test(sql)) ?? [];
      if (cause !== undefined) throw new Problem({ code: 'DB_QUERY_FAILED', family: 'job', message: 'no', cause });
      return { rows: [{ transaction_read_only: 'on' }] };
    },
  });
  const source = (options: Options) => withDefaults(db.source, options);
  const postgresError = (code: string) => Object.assign(new pg.DatabaseError('no', 2, 'error'), { code });
  const unknownSetting = postgresError('42704');

  it('is read without a setting that it does not know, and reports it if values depend on it', async () => {
    const limited = server([[/;|xmloption|timezone/, unknownSetting]]);
    expect(await beginPostgres(limited, source({}), { session: {} })).toMatchObject({
      isReadOnly: true,
      unknownSettings: ['timezone', 'xmloption'],
      unsetValueSettings: ['timezone'],
    });
  });

  it('is not read if it refuses a setting that it knows', async () => {
    const limited = server([
      [/;/, unknownSetting],
      [/datestyle/, postgresError('42501')],
    ]);
    expect(await problemOf(beginPostgres(limited, source({}), { session: {} }))).toMatchObject({
      code: 'DB_SESSION_SETTING',
      message: expect.stringContaining('datestyle'),
    });
  });

  it('gets settings that last without a transaction if it does not support transactions', async () => {
    const limited = server([[/;|begin/, postgresError('42601')]]);
    const options = source({ transaction: 'none', session: { work_mem: '1MB' } });
    expect(await beginPostgres(limited, options, options)).toMatchObject({ isReadOnly: false });
    expect(limited.runs).toEqual(expect.arrayContaining(["set timezone = 'UTC'", "set work_mem = '1MB'"]));
    expect(limited.runs.filter((sql) => /local|set_config/.test(sql)).slice(1)).toEqual([]);
  });

  it('is not read-only if only its transactions are, because MySQL ends them before a DDL statement', async () => {
    const limited = () => server([[/^set session transaction/, { errno: 1064 }]]);
    expect(await problemOf(beginMysql(limited(), source({})))).toMatchObject({ code: 'DB_NO_TRANSACTION' });
    const begun = await beginMysql(limited(), source({ transaction: 'none' }));
    expect(begun).toMatchObject({ isSnapshot: false, isReadOnly: false });
  });

  it('is not read in its own time zone, in which instants would be wrong', async () => {
    const limited = server([[/time_zone/, { errno: 1193 }]]);
    expect(await problemOf(beginMysql(limited, source({ transaction: 'none' })))).toMatchObject({
      code: 'DB_SESSION_SETTING',
      message: expect.stringContaining('time_zone'),
    });
    expect(limited.runs).not.toContain('start transaction');
  });
});

describeWithServer({ servers: 'PostgreSQL' }, 'a PostgreSQL session', (server) => {
  const setting = async (source: Options, name: string) =>
    (await read(source, `select current_setting('${name}')`)).rows[0]![0];

  it("keeps the role's own limits unless an option changes them", async () => {
    const admin = new pg.Client(server().url);
    await admin.connect();
    await admin.query(
      `create role slow login password '${server().password}'; alter role slow set statement_timeout = 300`,
    );
    await admin.end();
    const source = { url: server().url.replace('sluice', 'slow') };
    expect(await problemOf(read(source, 'select 1 as a from pg_sleep(60)'))).toMatchObject({
      code: 'DB_STATEMENT_CANCELLED',
    });
    expect(await setting(source, 'statement_timeout')).toBe('300ms');
    expect(await setting({ ...source, statement_timeout_seconds: 5 }, 'statement_timeout')).toBe('5s');
    expect(await setting({ ...source, statement_timeout_seconds: 0 }, 'statement_timeout')).toBe('0');
  });

  it('has the settings from the options and from the URL', async () => {
    const session = { search_path: '"a b", pg_catalog', work_mem: '77MB', 'my.text': "it's \\ 'x'" };
    const source = { url: `${server().url}?schema=public`, session };
    for (const [name, value] of Object.entries(session)) expect(await setting(source, name)).toBe(value);
    const admin = new pg.Client(server().url);
    await admin.connect();
    await admin.query('create schema "My ""App"; create table "My ""App".here (n int); create schema "my ""app"');
    await admin.end();
    const url = `${server().url}?schema=My%20%22App`;
    expect(await read({ url }, 'select n from here')).toEqual({ columns: ['n integer'], rows: [] });
  });

  it.each([
    [{ work_mem: 'much' }, /work_mem/],
    [{ no_such_setting: 1 }, /no_such_setting/],
    [{ 'my.text': 'fine', shared_buffers: '1MB' }, /shared_buffers/],
  ])('names a setting that the server refuses: %j', async (session, name) => {
    const source = { url: server().url, session };
    for (const act of [() => check(source), () => read(source, 'select 1 as a')]) {
      expect(await problemOf(act())).toMatchObject({
        code: 'DB_SESSION_SETTING',
        family: 'config',
        message: expect.stringMatching(name),
      });
    }
  });

  it('stays read-only and exact, whatever the settings and the startup options are', async () => {
    const options = '-c%20default_transaction_read_only%3Doff%20-c%20datestyle%3DGerman%20-c%20timezone%3DAsia/Tokyo';
    const source = { url: `${server().url}?options=${options}`, transaction: 'none', session: { work_mem: '1MB' } };
    expect((await read(source, "select date '2024-02-01', timestamptz '2024-02-01 00:00Z'")).rows).toEqual([
      ['2024-02-01', '2024-02-01T00:00:00Z'],
    ]);
    const admin = new pg.Client(server().url);
    await admin.connect();
    await admin.query('create table target (n int)');
    await admin.end();
    const write = read(source, 'with x as (insert into target values (1) returning 1) select * from x');
    expect(await problemOf(write)).toMatchObject({ code: 'DB_WRITE_REFUSED', family: 'job' });
    expect((await read(source, 'select n from target')).rows).toEqual([]);
    expect(await setting(source, 'transaction_read_only')).toBe('on');
    expect(await setting(source, 'transaction_isolation')).toBe('repeatable read');
  });
});

describeWithServer({ servers: 'MariaDB' }, 'a MariaDB session', (server) => {
  const variable = async (source: Options, name: string) => (await read(source, `select @@${name} as v`)).rows[0]![0];

  it("keeps the account's own limits unless an option changes them", async () => {
    const admin = await mysql.createConnection(server().url);
    await admin.query(`create user slow@'127.0.0.1' identified by '${server().password}' with max_statement_time 0.3`);
    await admin.query("grant select on test.* to slow@'127.0.0.1'");
    await admin.end();
    const source = { url: server().url.replace('sluice', 'slow') };
    expect(await problemOf(read(source, 'select sleep(60) as a union select benchmark(1e12, 1)'))).toMatchObject({
      code: 'DB_STATEMENT_CANCELLED',
    });
    expect(Number(await variable(source, 'max_statement_time'))).toBe(0.3);
    expect(Number(await variable({ ...source, statement_timeout_seconds: 5 }, 'max_statement_time'))).toBe(5);
  });

  it('has the settings from the options', async () => {
    const session = { group_concat_max_len: 99_999, sql_mode: 'ANSI_QUOTES', init_connect_: '' };
    const { init_connect_: _, ...known } = session;
    for (const [name, value] of Object.entries(known))
      expect(await variable({ url: server().url, session: known }, name)).toBe(String(value));
    expect(await problemOf(check({ url: server().url, session }))).toMatchObject({
      code: 'DB_SESSION_SETTING',
      message: expect.stringContaining('init_connect_'),
    });
  });
});
