import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { SqliteDatabase } from '../../../src/lib/sqlite.ts';
import { makeCertificates } from '../../servers/certificates.ts';
import type { TestServer } from '../../servers/server.ts';
import { check, extract, firstOf, type Options, read } from '../db-reader.ts';

/** What the situations happen to: two servers, a folder, and ports at which something else listens. */
export interface Stage {
  readonly folder: string;
  readonly postgres: TestServer;
  readonly mariadb: TestServer;
  /** Runs SQL as the administrator. */
  readonly onPostgres: (sql: string) => Promise<unknown>;
  readonly onMariadb: (sql: string) => Promise<unknown>;
  /** A source for a user, with that user's password. */
  readonly pg: (user: string, database?: string) => Options & { readonly url: string };
  readonly maria: (user: string, database?: string) => Options & { readonly url: string };
  /** A SQLite file in the folder. */
  readonly file: (name?: string) => Options;
  /** A source at a port whose listener does this with each connection. */
  readonly listener: (scheme: string, each: (socket: Socket) => void) => Promise<Options>;
  readonly check: (source: Options) => Promise<unknown>;
  readonly read: (source: Options, query?: Options | string) => Promise<unknown>;
  /** Reads, and does something after the first rows. */
  readonly readUntil: (source: Options, sql: string, then: () => Promise<unknown>) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const password = 'situation-password';

const postgresUsers = [
  ...['certified', 'encrypted', 'rejected', 'kerberos', 'peer', 'limited', 'slow', 'small'].map(
    (name) => `${name} login`,
  ),
  'group_only nologin',
  "expired login valid until '2001-01-01'",
  'alone login connection limit 0',
];

const pgHba = `
local all peer peer
local all all scram-sha-256
hostssl all certified 127.0.0.1/32 scram-sha-256 clientcert=verify-ca
hostssl all encrypted 127.0.0.1/32 scram-sha-256
hostnossl all encrypted 127.0.0.1/32 reject
host all rejected 127.0.0.1/32 reject
host all kerberos 127.0.0.1/32 gss
host template1 all 127.0.0.1/32 reject
host postgres,private,closed,ascii,nowhere all 127.0.0.1/32 scram-sha-256
`;

const mariadbUsers = [
  ['encrypted', 'require ssl'],
  ['certified', 'require x509'],
  ['locked', 'account lock'],
  ['expired', 'password expire'],
  ['guest', ''],
  ['alone', 'with max_user_connections 1'],
  ['hourly', 'with max_queries_per_hour 1'],
  ['slow', 'with max_statement_time 0.2'],
] as const;

interface StageOptions extends Pick<Stage, 'postgres' | 'mariadb'> {
  /** The authority that signed the servers' certificate. */
  readonly ca: string;
}

export async function openStage({ postgres, mariadb, ca }: StageOptions): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-situations-'));
  const onPostgres = await openPostgres(postgres);
  const onMariadb = await openMariadb(mariadb);
  await writeFiles(folder, ca);
  const servers = new Set<{ close(): void }>();
  const sockets = new Set<Socket>();
  const urlAs = (server: TestServer, user: string, database: string) =>
    `${server.url.split('://')[0]}://${user}:${user === 'sluice' ? server.password : password}@127.0.0.1:${server.port}/${database}`;
  return {
    ...{ folder, postgres, mariadb, onPostgres, onMariadb },
    pg: (user, database = 'postgres') => ({ url: urlAs(postgres, user, database) }),
    maria: (user, database = 'test') => ({ url: urlAs(mariadb, user, database) }),
    file: (name = 'shop.sqlite') => ({ driver: 'sqlite', file: name }),
    check: (source) => check(source, { folder }),
    read: (source, query = 'select 1 as a') => read(source, query, { folder }),
    async readUntil(source, sql, then) {
      const iterator = await firstOf(await extract(source, sql));
      try {
        await then();
        while (!(await iterator.next()).done);
      } finally {
        await iterator.return?.();
      }
    },
    async listener(scheme, each) {
      const server = createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
        each(socket);
      }).listen(0, '127.0.0.1');
      servers.add(server);
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as { port: number };
      return { url: `${scheme}://a:b@127.0.0.1:${port}/c`, connect_timeout_seconds: 0.5 };
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) server.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function openPostgres(server: TestServer): Promise<Stage['onPostgres']> {
  const run = async (sql: string) => {
    const client = new pg.Client(server.url);
    client.on('error', () => {});
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  for (const user of postgresUsers) await run(`create role ${user} password '${password}'`);
  await run(
    "alter role slow set statement_timeout = 200; alter role small set temp_file_limit = '64kB'; alter role small set work_mem = '64kB'",
  );
  await run('create table orders (id int primary key, secret text); insert into orders values (1)');
  await run('create database private');
  await run('revoke connect on database private from public');
  await run('create database closed allow_connections false');
  await run("create database ascii encoding SQL_ASCII template template0 lc_collate 'C' lc_ctype 'C'");
  await writeFile(join(server.folder, 'data/pg_hba.conf'), pgHba);
  await run('select pg_reload_conf()');
  return run;
}

async function openMariadb(server: TestServer): Promise<Stage['onMariadb']> {
  const run = async (sql: string) => {
    const connection = await mysql.createConnection(server.url);
    await connection.query(sql);
    await connection.end();
  };
  for (const [user, need] of mariadbUsers) {
    await run(`create user ${user}@'127.0.0.1' identified by '${password}' ${need}`);
    await run(`grant select on test.* to ${user}@'127.0.0.1'`);
  }
  await run(`create user elsewhere@'10.1.2.3' identified by '${password}'`);
  await run('create database private');
  await run("create user at_socket@'127.0.0.1' identified via unix_socket");
  await run('create table test.orders (id int primary key, due date)');
  return run;
}

async function writeFiles(folder: string, ca: string): Promise<void> {
  await writeFile(join(folder, 'ca.pem'), ca);
  await writeFile(join(folder, 'stranger.pem'), (await makeCertificates(['IP:127.0.0.1'])).ca);
  await writeFile(join(folder, 'notes.txt'), 'not a database, but long enough to look like one'.repeat(100));
  const db = new SqliteDatabase(join(folder, 'shop.sqlite'));
  db.exec('create table orders (id integer primary key, due date)');
  db.close();
  const whole = new SqliteDatabase(join(folder, 'whole.sqlite'));
  whole.exec(
    'create table many as with recursive n(i) as (select 1 union all select i + 1 from n where i < 9999) select i from n',
  );
  whole.close();
  const bytes = await readFile(join(folder, 'whole.sqlite'));
  await writeFile(join(folder, 'cut.sqlite'), bytes.subarray(0, 16_384));
}
