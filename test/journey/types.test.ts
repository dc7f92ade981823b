import mysql from 'mysql2';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { describeWithServer } from '../servers/describe.ts';
import { cellOf, exactly, type JsonCell, readCsv, readXml, type Table } from './documents.ts';
import { control, controlInXml, mariadb, postgres, sqlite, type Told } from './kinds.ts';
import { makeFolder } from './process.ts';
import { forSuite, makeWorld, type World } from './world.ts';

/** The statements that create and fill the table; `quote` quotes a name. */
function statements(columns: readonly Told[], quote: string): string[] {
  const names = columns.map(([name]) => quote + name + quote);
  const declared = columns.map(([, type], c) => `${names[c]} ${type}`);
  const row = (at: string, cells: readonly string[]): string =>
    `insert into kinds values (${[at, ...cells].join(', ')})`;
  return [
    `create table kinds (at integer, ${declared.join(', ')})`,
    row(
      '1',
      columns.map(([, , , [sql]]) => sql),
    ),
    row(
      '2',
      columns.map(([, , , , [sql]]) => sql),
    ),
    row(
      '3',
      columns.map(() => 'null'),
    ),
  ];
}

/** What must arrive; the header comes first. */
function wanted(columns: readonly Told[]): Table {
  return [
    ['at', ...columns.map(([name]) => name)],
    ['1', ...columns.map(([, , , [, text]]) => text)],
    ['2', ...columns.map(([, , , , [, text]]) => text)],
    ['3', ...columns.map(() => null)],
  ];
}

function jsonWanted(kind: Told[2], text: string | null): JsonCell {
  if (text === null) return { kind: 'null', text };
  return kind === 'json' ? cellOf(exactly(text)) : { kind, text };
}

/** Sends the table in all three formats and compares what the service shows. */
function carried(columns: readonly Told[], source: () => object): void {
  const scope = forSuite();
  const names = ['at', ...columns.map(([name]) => name)];
  let world: World;

  beforeAll(async () => {
    world = await makeWorld({ scope });
    const job = (format: string) => ({
      source: 'db',
      query: 'select * from kinds order by at',
      format,
      target: world.instances[format as 'csv'],
    });
    const home = await world.home();
    await home.config({
      destinations: { service: { url: world.url, api_key: 'ad'.repeat(20) } },
      sources: { db: { connector: 'db', ...source() } },
      jobs: { csv: job('csv'), json: job('json'), xml: job('xml') },
    });
    const { code, jobs, stderr } = await home.syncHere();
    expect({ code, stderr, states: jobs.map(({ state }) => state) }).toEqual({
      code: 0,
      stderr: '',
      states: ['delivered', 'delivered', 'delivered'],
    });
  });

  const shown = async (format: 'csv' | 'json' | 'xml') => (await world.data(world.instances[format]))!;

  it('arrive unchanged in CSV, with null distinct from an empty string', async () => {
    expect(readCsv(await shown('csv'))).toEqual(wanted(columns));
  });

  it('arrive in JSON as exact numbers, strings, booleans and nested values', async () => {
    const rows = exactly(await shown('json')) as Record<string, unknown>[];
    const [, ...expected] = wanted(columns);
    expect(rows.map((row) => Object.keys(row))).toEqual(expected.map(() => names));
    const kinds: Told[2][] = ['number', ...columns.map(([, , kind]) => kind)];
    expect(rows.map((row) => Object.values(row).map(cellOf))).toEqual(
      expected.map((row) =>
        row.map((text, c) =>
          kinds[c] === 'json' && text === 'null' ? jsonWanted('text', null) : jsonWanted(kinds[c]!, text),
        ),
      ),
    );
  });

  it('arrive unchanged in XML, with null as a missing element', async () => {
    const [, ...expected] = wanted(columns);
    const carriable = expected.map((row) => row.map((text) => (text === control ? controlInXml : text)));
    expect(readXml(await shown('xml'), names)).toEqual(carriable);
  });
}

describeWithServer({ servers: 'PostgreSQL' }, 'values of every type from PostgreSQL', (server) => {
  beforeAll(async () => {
    const client = new pg.Client(server().url);
    await client.connect();
    for (const sql of statements(postgres, '"')) await client.query(sql);
    await client.end();
  });

  carried(postgres, () => ({ url: server().url }));
});

describeWithServer({ servers: 'MariaDB' }, 'values of every type from MariaDB', (server) => {
  beforeAll(async () => {
    const admin = mysql.createConnection({ uri: server().url, charset: 'utf8mb4', timezone: 'Z' });
    for (const sql of ["set time_zone = '+00:00'", ...statements(mariadb, '`')]) {
      await new Promise<void>((resolve, reject) => {
        admin.query(sql, (failure) => (failure ? reject(failure) : resolve()));
      });
    }
    admin.end();
  });

  carried(mariadb, () => ({ url: server().url }));
});

describe('values of every type from SQLite', () => {
  const scope = forSuite();
  let file: string;

  beforeAll(async () => {
    file = `${await makeFolder(scope)}/kinds.sqlite`;
    const db = new SqliteDatabase(file);
    for (const sql of statements(sqlite, '"')) db.exec(sql);
    db.close();
  });

  carried(sqlite, () => ({ driver: 'sqlite', file }));
});
