import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDefaults } from '#sdk';
import db from '../../connectors/db/index.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { describeWithServer } from '../servers/describe.ts';
import { type Options, problemOf, read, readOn } from './db-reader.ts';

describe('the options of a query that reads a table', () => {
  const faults = (query: Options, source: Options = { url: 'postgres://me@db/shop' }) =>
    db.validate!({ source: withDefaults(db.source, source), query: withDefaults(db.query, query) });

  it.each([
    [{}, 'sql', 'is missing; set sql or table'],
    [{ sql: 'select 1', table: 'orders' }, 'table', 'cannot be combined with sql; remove one of the two'],
    [{ sql: 'select 1', columns: ['id'] }, 'columns', 'requires table; select the columns in sql'],
    [{ table: '' }, 'table', "is not a table's name, such as orders or public.orders"],
    [{ table: 'public.' }, 'table', "is not a table's name, such as orders or public.orders"],
    [{ table: 'a.b.c' }, 'table', "is not a table's name, such as orders or public.orders"],
    [{ table: 'orders', parameters: [1] }, 'parameters', 'requires sql; remove it'],
    [{ table: 'orders', columns: ['id', 'id'] }, 'columns', 'lists "id" twice'],
    [
      { table: 'orders', columns: ['id'], cursor: 'at' },
      'cursor',
      'names "at", which is not one of the columns; add it to columns',
    ],
    [
      { table: 'orders', columns: ['id'], chunks: { column: 'at', rows: 1 } },
      'chunks',
      'names "at", which is not one of the columns; add it to columns',
    ],
  ])('are refused if they cannot be combined: %j', (query, option, message) => {
    expect(faults(query)).toEqual([{ option, message }]);
  });

  it('are accepted', () => {
    expect(faults({ table: 'public.orders', columns: ['id', 'at'], cursor: 'at' })).toEqual([]);
    const sqlserver = { url: 'sqlserver://me@db/shop' };
    expect(faults({ table: 'shop.dbo.orders' }, sqlserver)).toEqual([]);
  });
});

interface Place {
  readonly source: () => Options;
  readonly folder?: () => string;
  /** Runs statements, separated by semicolons. */
  run(sql: string): Promise<void>;
  /** Quotes a name. */
  quote(name: string): string;
  /** A schema that the default schema isn't in, if the database has schemas. */
  readonly schema?: string;
}

function itReadsTables({ source, folder = () => '/nowhere', run, quote, schema }: Place): void {
  const hostile = 'Net "amount` 100%]';
  const table = (name: string, given: Options = {}) => read(source(), { table: name, ...given }, { folder: folder() });

  beforeAll(async () => {
    const [mixed, net] = [quote('Mixed Case'), quote(hostile)];
    await run(`create table items (shop int, line int, word varchar(20), primary key (shop, line));
      insert into items values (1, 1, 'one'), (1, 2, null);
      create view words as select word from items;
      create table ${mixed} (id int primary key, ${net} int);
      insert into ${mixed} values (7, 8)`);
    if (schema !== undefined) {
      await run(`create schema ${schema}; create table ${schema}.items (id int primary key);
        insert into ${schema}.items values (9)`);
    }
  });

  it('reads all columns of a table', async () => {
    const { columns, rows } = await table('items');
    expect(columns).toEqual(['shop integer', 'line integer', 'word text']);
    expect(rows.sort()).toEqual([
      ['1', '1', 'one'],
      ['1', '2', null],
    ]);
  });

  it('reads the columns that are listed, in this order', async () => {
    expect(await table('items', { columns: ['word', 'shop'] })).toMatchObject({
      columns: ['word text', 'shop integer'],
    });
  });

  it('reads a view', async () => {
    expect((await table('words')).rows).toHaveLength(2);
  });

  it('quotes the names of the table and the columns', async () => {
    const { columns, rows } = await table('Mixed Case', { columns: [hostile] });
    expect({ columns, rows }).toEqual({ columns: [`${hostile} integer`], rows: [['8']] });
  });

  it('reads new rows by a cursor', async () => {
    const { rows, watermark } = await readOnIn({ table: 'items', cursor: 'line' });
    expect(rows).toHaveLength(2);
    expect((await readOnIn({ table: 'items', cursor: 'line' }, watermark)).unchanged).toBe(true);
  });

  it('fails for a table or a column that does not exist', async () => {
    expect(await problemOf(table('nowhere'))).toMatchObject({ code: 'DB_QUERY_FAILED', family: 'job' });
    expect(await problemOf(table('items', { columns: ['nothing'] }))).toMatchObject({ code: 'DB_QUERY_FAILED' });
  });

  it.runIf(schema !== undefined)('reads a table in another schema', async () => {
    expect((await table(`${schema}.items`)).rows).toEqual([['9']]);
  });

  function readOnIn(query: Options, watermark?: string) {
    return readOn(source(), query, watermark, { folder: folder() });
  }
}

describe('reading a table in SQLite', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-table-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  itReadsTables({
    source: () => ({ driver: 'sqlite', file: 'shop.sqlite' }),
    folder: () => folder,
    async run(sql) {
      const file = new SqliteDatabase(join(folder, 'shop.sqlite'));
      file.exec(sql);
      file.close();
    },
    quote: (name) => `"${name.replaceAll('"', '""')}"`,
  });
});

describeWithServer({ servers: 'PostgreSQL' }, 'reading a table in PostgreSQL', (server) => {
  let admin: pg.Client;
  beforeAll(async () => {
    admin = new pg.Client(server().url);
    await admin.connect();
  });
  afterAll(() => admin.end());
  itReadsTables({
    source: () => ({ url: server().url }),
    run: async (sql) => void (await admin.query(sql)),
    quote: (name) => `"${name.replaceAll('"', '""')}"`,
    schema: 'sales',
  });
});

describeWithServer({ servers: 'MariaDB' }, 'reading a table in MariaDB', (server) => {
  let admin: mysql.Connection;
  beforeAll(async () => {
    admin = await mysql.createConnection({ uri: server().url, multipleStatements: true });
  });
  afterAll(() => admin.end());
  itReadsTables({
    source: () => ({ url: server().url }),
    run: async (sql) => void (await admin.query(sql)),
    quote: (name) => `\`${name.replaceAll('`', '``')}\``,
    schema: 'sales',
  });
});
