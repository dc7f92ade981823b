import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { problemOf, read } from '../connectors/db-reader.ts';
import { describeWithServer, reportMissing } from '../servers/describe.ts';
import { hasVenv, venvOf } from '../servers/python-venv.ts';
import type { TestServer } from '../servers/server.ts';
import { type StoredValue, storedValues } from './database-values.ts';

const title = 'the table of values in docs/neighbours.md';
const script = new URL('../servers/python/dlt_databases.py', import.meta.url).pathname;
const page = new URL('../../docs/neighbours.md', import.meta.url);
const execute = promisify(execFile);

/** What a tool delivers for a value. */
type Outcome = string | null | 'an error';
type Answer = { readonly values: readonly Outcome[] } | { readonly error: string };

const tables = new Map(storedValues.map((value, i) => [value, `value${i}`]));
const of = (database: StoredValue['database']) => storedValues.filter((value) => value.database === database);
const isSame = ({ text: own, same }: StoredValue, outcome: Outcome): boolean =>
  outcome !== null && outcome !== 'an error' && (same?.test(outcome) ?? outcome === own);

if (!hasVenv()) reportMissing(title, ['Python with venv'], 'python3-venv');
else
  describeWithServer({ servers: ['PostgreSQL', 'MariaDB'] }, title, (server) => {
    let folder: string;
    let environment: NodeJS.ProcessEnv;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-neighbours-'));
      // Neither program may write to the user's home or report anything.
      environment = {
        ...{ PATH: process.env.PATH, HOME: folder, SLING_HOME_DIR: folder, DLT_DATA_DIR: folder },
        ...{ SLING_DISABLE_TELEMETRY: 'true', RUNTIME__DLTHUB_TELEMETRY: 'false', RUNTIME__LOG_LEVEL: 'CRITICAL' },
      };
      await fill();
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    async function fill(): Promise<void> {
      const postgres = new pg.Client(server('PostgreSQL').url);
      await postgres.connect();
      for (const value of of('PostgreSQL')) await postgres.query(statements(value).join(';'));
      await postgres.end();
      const mariadb = await mysql.createConnection(server('MariaDB').url);
      await mariadb.query("set sql_mode = ''");
      for (const value of of('MariaDB')) for (const statement of statements(value)) await mariadb.query(statement);
      await mariadb.end();
    }

    const statements = (value: StoredValue) => [
      `create table ${tables.get(value)} (id int primary key, v ${value.type})`,
      `insert into ${tables.get(value)} values (1, ${value.literal})`,
    ];

    async function withSluice(value: StoredValue): Promise<Outcome> {
      const reading = read({ url: server(value.database).url }, `select v from ${tables.get(value)}`);
      if (value.text === 'an error') return (await problemOf(reading)).code === 'DB_NO_SUCH_DATE' ? 'an error' : null;
      return (await reading).rows[0]![0]!;
    }

    async function withDlt(values: readonly StoredValue[], url: string): Promise<Outcome[]> {
      const child = spawn(join(await venvOf('dlt'), 'bin/python3'), ['-W', 'ignore', script], {
        env: environment,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      child.stdin.end(JSON.stringify({ url, tables: values.map((value) => tables.get(value)) }));
      const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
      return (JSON.parse(printed) as Answer[]).map((answer) => ('error' in answer ? 'an error' : answer.values[0]!));
    }

    async function withSling(value: StoredValue, { url, schema }: { url: string; schema: string }): Promise<Outcome> {
      const file = join(folder, `${tables.get(value)}.csv`);
      const of = ['--src-conn', 'SOURCE', '--src-stream', `${schema}.${tables.get(value)}`];
      try {
        await execute(await sling(), ['run', ...of, '--tgt-object', `file://${file}`], {
          env: { ...environment, SOURCE: url },
        });
      } catch {
        return 'an error';
      }
      // An empty cell can be null or an empty text.
      return (parse(await readFile(file), { from_line: 2, relax_quotes: true }) as string[][])[0]![1] || null;
    }

    async function sling(): Promise<string> {
      const venv = await venvOf('dlt');
      const [program] = await Array.fromAsync(glob(join(venv, 'lib/*/site-packages/sling_linux_amd64/bin/sling-*')));
      await chmod(program!, 0o755);
      return program!;
    }

    const addressesOf = ({ host, port, user, password, database }: TestServer, isPostgres: boolean) => {
      const rest = `${user}:${password}@${host}:${port}/${database}`;
      return isPostgres
        ? { dlt: `postgresql+psycopg2://${rest}`, sling: `postgres://${rest}?sslmode=disable`, schema: 'public' }
        : { dlt: `mysql+pymysql://${rest}`, sling: `mysql://${rest}`, schema: database };
    };

    it.each(['PostgreSQL', 'MariaDB'] as const)(
      'says what three tools deliver from %s',
      async (database) => {
        const values = of(database);
        const outcomes: Outcome[] = [];
        for (const value of values) outcomes.push(await withSluice(value));
        expect(outcomes).toEqual(values.map(({ text: own }) => own));
        const { dlt, sling: url, schema } = addressesOf(server(database), database === 'PostgreSQL');
        const byDlt = await withDlt(values, dlt);
        const rows: string[] = [];
        for (const [i, value] of values.entries()) {
          const others = [await withSling(value, { url, schema }), byDlt[i]!];
          // An error that the user could do something about isn't a loss.
          const words = others.map((one) => (value.text === 'an error' ? one === 'an error' : isSame(value, one)));
          rows.push(`| ${value.title} | ${database} | yes | ${words.map((is) => (is ? 'yes' : 'no')).join(' | ')} |`);
        }
        const written = (await readFile(page, 'utf8')).split('\n');
        expect(rows.filter((row) => !written.includes(row))).toEqual([]);
      },
      600_000,
    );
  });
