import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { hostileNames, hostileValues, type Options, type Resume, type TestSource, type World } from '#sdk/testing';
import { SqliteDatabase } from '../../../src/lib/sqlite.ts';
import { freePort } from '../../servers/free-port.ts';
import { startMariadb } from '../../servers/mariadb.ts';
import { startPostgres } from '../../servers/postgres.ts';
import type { TestServer } from '../../servers/server.ts';

const rows = 14_000;
const table = 'create table orders (id integer primary key, customer varchar(40), amount decimal(12,2), day date)';
const content = "insert into orders values (1, 'Ann', 1.50, '2026-01-31'), (2, null, null, null)";
/** Between incremental reads, this table gets new rows, both at the watermark and before it. */
const log = 'create table log (at integer, word varchar(40))';
const begun = "insert into log values (1, 'one'), (2, 'two')";
const grown = "insert into log values (2, 'two again'), (3, 'three')";

function resumeBy(run: (sql: string) => Promise<unknown>): Resume {
  return {
    query: { sql: 'select at, word from log', cursor: 'at', lag: 1 },
    key: ['word'],
    async grow() {
      await run(grown);
      return [
        ['2', 'two again'],
        ['3', 'three'],
      ];
    },
  };
}

const note = 'note '.repeat(240);

/** The connector's example in the syntax of databases without $1. */
const example = 'select id, customer, amount, day from orders where amount > ? order by id';

/** What all of them have in common. */
const common = {
  query: { sql: 'select id, customer, amount, day from orders order by id' },
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'customer', type: 'text' },
    { name: 'amount', type: 'decimal' },
    { name: 'day', type: 'date' },
  ],
  rows: [
    ['1', 'Ann', '1.50', '2026-01-31'],
    ['2', null, null, null],
  ],
  refused: [
    { query: { sql: undefined }, option: 'sql' },
    { query: { table: 'orders' }, option: 'table' },
    { query: { columns: ['id'] }, option: 'columns' },
    { source: { driver: 'oracle' }, option: 'driver' },
    { source: { tls: { mode: 'sometimes' } }, option: 'tls' },
    { query: { lag: '10m' }, option: 'lag' },
    { query: { cursor: 'id', lag: '10 minutes' }, option: 'lag' },
    { query: { cursor: 'id', chunks: { column: 'id', rows: 10 } }, option: 'chunks' },
    { query: { chunks: { column: 'id' } }, option: 'chunks' },
  ],
} as const satisfies Partial<TestSource>;

interface HostileTable {
  readonly create: string;
  readonly insert: string;
  readonly sql: string;
  readonly rows: readonly (string | number)[][];
}

/** A table with hostile names, and the query that reads it in insertion order. */
function hostileTable(given: readonly string[], quote: (name: string) => string): HostileTable {
  const names = given.map(quote);
  return {
    create: `create table hostile (position_ integer, ${names.map((name) => `${name} text`).join(', ')})`,
    insert: `insert into hostile values (?${', ?'.repeat(names.length)})`,
    sql: `select ${names.join(', ')} from hostile order by position_`,
    rows: hostileValues.map((value, i) => [i, ...given.map(() => value)]),
  };
}

function serverPlace(server: TestServer, port: number, many: string): TestSource {
  const { host, user, password, database } = server;
  const scheme = server.url.split(':')[0]!;
  const driver: Options = { driver: scheme === 'mysql' ? 'mariadb' : scheme };
  return {
    ...common,
    source: { ...driver, host, port: server.port, user, password, database },
    secrets: [password],
    refused: [...common.refused, { source: { url: server.url }, option: 'host' }],
    credentials: { source: { password: 'wrong-password-77' } },
    unreachable: { source: { port } },
    many: { query: { sql: many }, rows },
    close: () => server.stop(),
  };
}

const postgres: World = {
  name: 'PostgreSQL',
  async open() {
    const server = await startPostgres();
    const hostile = hostileTable(hostileNames, (name) => `"${name.replaceAll('"', '""')}"`);
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query(`${table}; ${content}; ${hostile.create}; ${log}; ${begun}`);
    for (const row of hostile.rows) await client.query(hostile.insert.replace(/\?/g, numbered()), row);
    await client.end();
    const place = serverPlace(
      server,
      await freePort(),
      `select i, '${note}' as note from generate_series(1, ${rows}) i`,
    );
    const resume = resumeBy(async (sql) => {
      const writer = new pg.Client(server.url);
      await writer.connect();
      await writer.query(sql);
      await writer.end();
    });
    return { ...place, resume, hostile: { query: { sql: hostile.sql } } };
  },
};

function numbered(): () => string {
  let n = 0;
  return () => `$${++n}`;
}

const mariadb: World = {
  name: 'MariaDB',
  async open() {
    const server = await startMariadb();
    // Uses only names whose characters are all in the basic multilingual plane.
    const names = hostileNames.filter((name) => /^\P{Extended_Pictographic}*$/u.test(name));
    const hostile = hostileTable(names, (name) => `\`${name}\``);
    const connection = await mysql.createConnection({ uri: server.url, charset: 'utf8mb4' });
    for (const statement of [table, content, hostile.create, log, begun]) await connection.query(statement);
    for (const row of hostile.rows) await connection.execute(hostile.insert, row);
    await connection.end();
    const place = serverPlace(server, await freePort(), `select seq, '${note}' as note from seq_1_to_${rows}`);
    const resume = resumeBy(async (sql) => {
      const writer = await mysql.createConnection(server.url);
      await writer.query(sql);
      await writer.end();
    });
    return { ...place, resume, hostile: { query: { sql: hostile.sql }, names }, example: { query: { sql: example } } };
  },
};

const sqlite: World = {
  name: 'SQLite',
  waived: { credentials: 'a file has none' },
  async open() {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-world-'));
    const hostile = hostileTable(hostileNames, (name) => `"${name.replaceAll('"', '""')}"`);
    const db = new SqliteDatabase(join(folder, 'shop.sqlite'));
    db.exec(`${table}; ${content}; ${hostile.create}; ${log}; ${begun}`);
    for (const row of hostile.rows) db.prepare(hostile.insert).run(...row);
    db.close();
    const many = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) select i, '${note}' as note from n`;
    const resume = resumeBy(async (sql) => {
      const writer = new SqliteDatabase(join(folder, 'shop.sqlite'));
      writer.exec(sql);
      writer.close();
    });
    return {
      ...common,
      folder,
      resume,
      source: { driver: 'sqlite', file: 'shop.sqlite' },
      rows: [['1', 'Ann', '1.5', '2026-01-31'], common.rows[1]],
      example: { query: { sql: example } },
      refused: [...common.refused, { source: { host: 'db.example.com' }, option: 'host' }],
      unreachable: { source: { file: 'not-there.sqlite' }, family: 'config' },
      hostile: { query: { sql: hostile.sql } },
      many: { query: { sql: many }, rows },
      close: () => rm(folder, { recursive: true }),
    };
  },
};

const worlds: readonly World[] = [postgres, mariadb, sqlite];
export default worlds;
