import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import db from '../../connectors/db/index.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { describeWithServer } from '../servers/describe.ts';
import { type Options, read } from './db-reader.ts';
import { contextOf } from './harness.ts';

async function discover(source: Options, { folder = '/nowhere', pattern }: { folder?: string; pattern?: string } = {}) {
  const context = contextOf(db, { source, query: {}, folder });
  return db.discover!({ ...context, ...(pattern === undefined ? {} : { pattern }) });
}

/** Every suggested query returns its table's columns. */
async function expectReadable(source: Options, folder?: string): Promise<void> {
  for (const { columns, query } of await discover(source, folder === undefined ? {} : { folder })) {
    const table = await read(source, query, folder === undefined ? {} : { folder });
    expect(table.columns.map((column) => column.split(' ').slice(0, -1).join(' '))).toEqual(
      columns!.map(({ name }) => name),
    );
  }
}

describeWithServer({ servers: 'PostgreSQL' }, 'the tables in PostgreSQL', (server) => {
  let admin: pg.Client;
  const reader = () => {
    const { host, port } = server();
    return { driver: 'postgres', host, port, database: 'postgres', user: 'reader', password: 'reader-secret-word' };
  };

  beforeAll(async () => {
    admin = new pg.Client(server().url);
    await admin.connect();
    await admin.query(`
      create table orders (id bigint primary key, "Net ""amount" numeric(12,2), gone int, updated_at timestamptz);
      alter table orders drop column gone;
      create view totals as select count(*) as n from orders;
      create schema sales;
      create table sales.lines (line int, order_id bigint, primary key (order_id, line));
      create table parted (day date, n int) partition by range (day);
      create table parted_2026 partition of parted for values from ('2026-01-01') to ('2027-01-01');
      create table secret (id int);
      create table partly (id int, salary int);
      create role reader login password 'reader-secret-word';
      grant select on orders, totals, parted to reader;
      grant select (id) on partly to reader;
      grant usage on schema sales to reader;
      grant select on sales.lines to reader;`);
  });
  afterAll(() => admin.end());

  it('are listed with columns, types, keys and cursors', async () => {
    expect(await discover(reader(), { pattern: 'orders' })).toEqual([
      {
        name: 'orders',
        kind: 'table',
        columns: [
          { name: 'id', type: 'bigint' },
          { name: 'Net "amount', type: 'numeric(12,2)' },
          { name: 'updated_at', type: 'timestamp with time zone' },
        ],
        key: ['id'],
        cursors: ['updated_at', 'id'],
        query: { sql: 'select "id", "Net ""amount", "updated_at" from "orders" order by "id"' },
      },
    ]);
  });

  it("don't include partitions, or tables that the user can't read", async () => {
    const found = await discover(reader());
    expect(found.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      'table orders',
      'table parted',
      'table partly',
      'view totals',
      'table sales.lines',
    ]);
    expect(found.find(({ name }) => name === 'partly')?.columns).toEqual([{ name: 'id', type: 'integer' }]);
    expect(found.at(-1)?.key).toEqual(['order_id', 'line']);
    expect(found.at(-1)?.cursors).toEqual([]);
  });

  it('can be read with the suggested queries', async () => {
    await expectReadable(reader());
  });
});

describeWithServer({ servers: 'MariaDB' }, 'the tables in MariaDB', (server) => {
  const source = () => ({ url: server().url });

  beforeAll(async () => {
    const admin = mysql.createConnection({ uri: server().url, multipleStatements: true });
    const sql = `
      create table orders (id int unsigned auto_increment primary key, \`net\`\`amount\` decimal(12,2), modified datetime);
      create table \`lines\` (line int, order_id int, primary key (order_id, line));
      create view totals as select count(*) as n from orders;`;
    await new Promise((done, fail) => admin.query(sql, (failure) => (failure ? fail(failure) : done(undefined))));
    admin.destroy();
  });

  it('are listed with columns, types, keys and cursors', async () => {
    const found = await discover(source());
    expect(found.map(({ name, kind, key, cursors }) => ({ name, kind, key, cursors }))).toEqual([
      { name: 'lines', kind: 'table', key: ['order_id', 'line'], cursors: [] },
      { name: 'orders', kind: 'table', key: ['id'], cursors: ['modified', 'id'] },
      { name: 'totals', kind: 'view', key: undefined, cursors: [] },
    ]);
    expect(found[1]!.columns).toEqual([
      { name: 'id', type: 'int(10) unsigned' },
      { name: 'net`amount', type: 'decimal(12,2)' },
      { name: 'modified', type: 'datetime' },
    ]);
  });

  it('can be read with the suggested queries', async () => {
    await expectReadable(source());
  });
});

describe('the tables in SQLite', () => {
  async function shop(): Promise<{ folder: string; source: Options }> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-discover-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = new SqliteDatabase(join(folder, 'shop.sqlite'));
    file.exec(`
      create table orders (id integer primary key, "net ""amount" decimal(12,2), twice generated always as (id * 2));
      create table lines (line integer, order_id integer, primary key (order_id, line));
      create view totals as select count(*) as n from orders;
      create table seq (n integer primary key autoincrement);`);
    file.close();
    return { folder, source: { driver: 'sqlite', file: 'shop.sqlite' } };
  }

  it("are listed with columns, types and keys, without SQLite's own tables", async () => {
    const { folder, source } = await shop();
    const found = await discover(source, { folder });
    expect(found.map(({ name, key }) => [name, key])).toEqual([
      ['lines', ['order_id', 'line']],
      ['orders', ['id']],
      ['seq', ['n']],
      ['totals', undefined],
    ]);
    expect(found[1]!.columns).toEqual([
      { name: 'id', type: 'INTEGER' },
      { name: 'net "amount', type: 'decimal(12,2)' },
      { name: 'twice', type: '' },
    ]);
  });

  it('can be read with the suggested queries', async () => {
    const { folder, source } = await shop();
    await expectReadable(source, folder);
  });

  it('can be filtered with a pattern', async () => {
    const { folder, source } = await shop();
    expect((await discover(source, { folder, pattern: '*s' })).map(({ name }) => name)).toEqual([
      'lines',
      'orders',
      'totals',
    ]);
  });
});
