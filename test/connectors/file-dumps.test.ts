import { execFileSync } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
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

/** The rows of a program's output. */
async function readOutput(output: Buffer, options: Record<string, unknown>) {
  const path = join(folder, 'output.txt');
  await writeFile(path, output);
  return await read(path, 'csv', { header: true, ...options });
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
      const select = 'select * from t order by id';
      const psql = (...args: string[]) => execFileSync('psql', ['-X', server().url, ...args]);
      expect(await readOutput(psql('-c', `copy (${select}) to stdout (format csv, header)`), {})).toEqual(rows);
      const plain = [
        ['1', 'x'],
        ['2', null],
      ];
      const table = psql('-A', '-c', "values ('1', 'x'), ('2', null)");
      expect(await readOutput(table, { delimiter: '|', quote: '', skip_footer: 1 })).toEqual(plain);
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
      await client.query(
        `select * from t order by id into outfile '${path}.csv' fields terminated by ',' enclosed by '"'`,
      );
      expect(await read(`${path}.csv`, 'csv', { escape: '\\', null_text: '\\N' })).toEqual(rows);
      const { host, port, user, password, database } = server();
      const login = [
        '--default-character-set=utf8mb4',
        `--host=${host}`,
        `--port=${port}`,
        `--user=${user}`,
        `--password=${password}`,
      ];
      const batch = execFileSync('mysql', [
        ...login,
        '--batch',
        '-e',
        'select * from t where id <> 3 order by id',
        database,
      ]);
      const dialect = { dialect: 'mysql_text', null_text: 'NULL' };
      expect(await readOutput(batch, dialect)).toEqual(rows.filter(([id]) => id !== '3'));
    } finally {
      await client.end();
    }
  });
});
