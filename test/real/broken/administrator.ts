import { setTimeout as wait } from 'node:timers/promises';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';

/** A connection to a database as its administrator or as another user. */
export interface Administrator {
  run(sql: string): Promise<void>;
  /** Resolves when a statement that starts with this text waits for a lock. */
  untilWaits(sql: string): Promise<void>;
  close(): Promise<void>;
}

/** Logs in to the server at the URL. */
export function administrate(url: string): Promise<Administrator> {
  return url.startsWith('postgres') ? administratePostgres(url) : administrateMysql(url);
}

async function administratePostgres(url: string): Promise<Administrator> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  return {
    run: async (sql) => void (await client.query(sql)),
    untilWaits: async (sql) => {
      const asked = "select from pg_stat_activity where wait_event_type = 'Lock' and query like $1";
      while ((await client.query(asked, [`${sql}%`])).rowCount === 0) await wait(10);
    },
    close: () => client.end(),
  };
}

async function administrateMysql(url: string): Promise<Administrator> {
  const connection = await mysql.createConnection({ uri: url, multipleStatements: true });
  connection.on('error', () => {});
  return {
    run: async (sql) => void (await connection.query(sql)),
    untilWaits: async (sql) => {
      const asked = "select 1 from information_schema.processlist where state like 'Waiting for%' and info like ?";
      while ((await connection.query<RowDataPacket[]>(asked, [`${sql}%`]))[0].length === 0) await wait(10);
    },
    close: async () => connection.destroy(),
  };
}
