import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDefaults } from '#sdk';
import db from '../../connectors/db/index.ts';
import { describeWithServer } from '../servers/describe.ts';
import type { Options } from './db-reader.ts';
import { itReadsTables } from './db-table-suite.ts';
import { sqliteShop } from './sqlite-shop.ts';

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

describe('reading a table in SQLite', () => {
  itReadsTables({
    ...sqliteShop(),
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
