import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { itComparesKeys, mysqlZoo } from './db-compare-suite.ts';
import { extract, problemOf } from './db-reader.ts';
import { sqliteShop } from './sqlite-shop.ts';

describe('comparing keys with SQLite', () => {
  itComparesKeys({
    ...sqliteShop(),
    zoo: {
      types: ['numeric', 'text', 'blob', 'datetime'],
      rows: [
        "1.50, 'a', x'00ff', '2026-01-31 10:00:00'",
        "1.5, 'a ', x'00ff', '2026-01-31 10:00:00'",
        "9007199254740993, 'A', x'', '2026-01-31'",
      ],
    },
  });
});

describeWithServer({ servers: 'PostgreSQL' }, 'comparing keys with PostgreSQL', (server) => {
  let admin: pg.Client;
  beforeAll(async () => {
    admin = new pg.Client(server().url);
    await admin.connect();
  });
  afterAll(() => admin.end());
  itComparesKeys({
    source: () => ({ url: server().url }),
    run: async (sql) => void (await admin.query(sql)),
    zoo: {
      types: ['numeric', 'char(5)', 'varchar(5)', 'uuid', 'bytea', 'timestamptz', 'numeric(30, 10)'],
      rows: [
        "1.0, 'a', 'a ', 'A0000000-0000-4000-8000-00000000000A', '\\x00ff', '2026-01-31 10:00+02', 1.50",
        "1.00, 'a', 'a', 'A0000000-0000-4000-8000-00000000000A', '\\x00ff', '2026-01-31 10:00:00.120', -1.5",
        "'NaN', 'A', '', 'a0000000-0000-4000-8000-00000000000a', '', 'infinity', 12345678901234567890.0000000001",
      ],
    },
  });

  it('rejects a cursor of text, which only the database can compare', async () => {
    await admin.query('create table worded (id int, word text)');
    const opened = extract({ url: server().url }, { table: 'worded', cursor: 'word' }, { comparedKey: ['id'] });
    expect(await problemOf(opened)).toMatchObject({ code: 'CURSOR_TYPE', family: 'config' });
  });
});

describeWithServer({ servers: 'MariaDB' }, 'comparing keys with MariaDB', (server) => {
  let admin: mysql.Connection;
  beforeAll(async () => {
    admin = await mysql.createConnection(server().url);
  });
  afterAll(() => admin.end());
  itComparesKeys({
    source: () => ({ url: server().url }),
    run: async (sql) => void (await admin.query(sql)),
    zoo: mysqlZoo,
  });
});
