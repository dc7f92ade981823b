import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import file from '../../connectors/file/index.ts';
import { describeWithServer } from '../servers/describe.ts';
import { extractTable } from './harness.ts';

/** Texts that a dump must escape. */
const rows = [
  ['1', 'tab\there', 'C:\\new\\tx', ''],
  ['2', 'line\nfeed', 'return\r\nfeed', null],
  ['3', '\\N', 'NULL', '\\.'],
  ['4', '"quoted", once', "it's", '\b\f\v é 😀'],
];

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-dumps-'));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

/** The rows of a dump, which only the server's user may read if it isn't copied. */
async function read(path: string, dialect: string, more: Record<string, unknown> = {}) {
  await copyFile(path, join(folder, 'dump.txt'));
  const query = { path: 'dump.txt', format: 'csv', dialect, header: false, ...more };
  return (await extractTable(file, { source: {}, query, folder })).rows;
}

describeWithServer({ servers: 'PostgreSQL' }, 'a dump of PostgreSQL', (server) => {
  it('is read exactly', async () => {
    const client = new pg.Client(server().url);
    await client.connect();
    try {
      await client.query('create table t (id text, a text, b text, c text)');
      for (const row of rows) await client.query('insert into t values ($1, $2, $3, $4)', row);
      const path = join(server().folder, 'dump.txt');
      await client.query(`copy (select * from t order by id) to '${path}'`);
      expect(await read(path, 'postgres_text')).toEqual(rows);
      await client.query(`copy (select * from t order by id) to '${path}' (delimiter '|')`);
      expect(await read(path, 'postgres_text', { delimiter: '|' })).toEqual(rows);
      await client.query(`copy (select bytea '\\x00' as b) to '${path}'`);
      expect(await read(path, 'postgres_text')).toEqual([['\\x00']]);
    } finally {
      await client.end();
    }
  });
});

describeWithServer({ servers: 'MariaDB' }, 'a dump of MariaDB', (server) => {
  it('is read exactly', async () => {
    const client = await mysql.createConnection(server().url);
    try {
      await client.query('create table t (id text, a text, b text, c text) character set utf8mb4');
      for (const row of rows) await client.query('insert into t values (?, ?, ?, ?)', row);
      const path = join(server().folder, 'dump.txt');
      await client.query(`select * from t order by id into outfile '${path}'`);
      expect(await read(path, 'mysql_text')).toEqual(rows);
    } finally {
      await client.end();
    }
  });
});
