import mysql, { type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { cellOf, exactly, readCsv, readXml, type Table } from '../journey/documents.ts';
import { adminKey, forSuite, makeWorld, type World } from '../journey/world.ts';
import { describeWithServer, type ServerKind } from '../servers/describe.ts';
import { mariadbZoo, mysqlZoo } from './zoos/mysql-zoo.ts';
import { postgresTypes, postgresZoo } from './zoos/postgres-zoo.ts';
import { type Species, toldQuery, zooStatements } from './zoos/zoo.ts';

interface Zoo {
  readonly server: ServerKind;
  readonly species: readonly Species[];
  /** Creates the table, and resolves to what the server itself writes for it. */
  fill(url: string): Promise<Table>;
}

const zoos: readonly Zoo[] = [
  { server: 'PostgreSQL', species: postgresZoo, fill: fillPostgres },
  { server: 'MariaDB', species: mariadbZoo, fill: (url) => fillMysql(url, mariadbZoo) },
  { server: 'MySQL', species: mysqlZoo, fill: (url) => fillMysql(url, mysqlZoo) },
];

async function fillPostgres(url: string): Promise<Table> {
  const client = new pg.Client({
    connectionString: url,
    types: { getTypeParser: () => String } as pg.CustomTypesConfig,
  });
  await client.connect();
  try {
    const settings =
      "set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'iso_8601'; set extra_float_digits = 3";
    for (const sql of [settings, postgresTypes, ...zooStatements(postgresZoo)]) await client.query(sql);
    return (await client.query<Table[number]>({ text: toldQuery(postgresZoo, '{c}::text'), rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

async function fillMysql(uri: string, zoo: readonly Species[]): Promise<Table> {
  const typeCast = (field: { string(): string | null }) => field.string();
  const connection = await mysql.createConnection({ uri, charset: 'utf8mb4', typeCast, rowsAsArray: true });
  try {
    await connection.query("set time_zone = '+00:00', sql_mode = ''");
    for (const sql of zooStatements(zoo)) await connection.query(sql);
    return (await connection.query<RowDataPacket[][]>(toldQuery(zoo, 'cast({c} as char)')))[0] as unknown as Table;
  } finally {
    connection.destroy();
  }
}

for (const { server: kind, species, fill } of zoos) {
  describeWithServer({ servers: kind }, `every column type of ${kind}`, (server) => {
    const scope = forSuite();
    const names = ['id', ...species.map((_, c) => `c${c}`)];
    let world: World;
    /** Without the IDs. */
    let wanted: Table;

    beforeAll(async () => {
      const told = await fill(server().url);
      expect(told.length).toBe(Math.max(...species.map(({ values }) => values.length)) + 1);
      wanted = told.map((row) =>
        species.map(({ canonical = (text) => text }, c) => {
          const text = row[c] ?? null;
          return text === null ? null : canonical(text);
        }),
      );
      world = await makeWorld({ scope });
      const home = await world.home(scope);
      const job = (format: 'csv' | 'json' | 'xml') => ({
        source: 'db',
        query: 'select * from zoo order by id',
        format,
        target: world.instances[format],
      });
      await home.config({
        destinations: { main: { url: world.url, api_key: adminKey } },
        sources: { db: { connector: 'db', url: server().url, zero_dates: 'null' } },
        jobs: { csv: job('csv'), json: job('json'), xml: job('xml') },
      });
      const { code, stderr } = await home.sync();
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    });

    const shown = async (format: 'csv' | 'json' | 'xml') => (await world.data(world.instances[format]))!;

    /** Each type with the values that differ. */
    function differences(found: Table, expected: Table): string[] {
      return species.flatMap(({ type }, c) =>
        expected.flatMap((row, r) =>
          found[r]?.[c] === row[c]
            ? []
            : [`${type}: ${String(found[r]?.[c]).slice(0, 200)}, but the server says ${String(row[c]).slice(0, 200)}`],
        ),
      );
    }

    it('arrives in CSV as the server itself prints it', async () => {
      const [header, ...found] = readCsv(await shown('csv'));
      expect(header).toEqual(names);
      expect(differences(plain(found), plain(wanted, false))).toEqual([]);
    });

    it('arrives in XML as the server itself prints it', async () => {
      expect(differences(plain(readXml(await shown('xml'), names)), plain(wanted, false))).toEqual([]);
    });

    it('arrives in JSON as the server itself prints it, with every digit of its numbers', async () => {
      const found = (exactly(await shown('json')) as Record<string, unknown>[]).map((row) =>
        Object.values(row)
          .slice(1)
          .map((value, c) => {
            const { kind, text } = cellOf(value);
            const { json } = species[c]!;
            // A number that JSON can't represent becomes a string; JSON's null means that there is no value.
            const fits =
              kind === json || kind === 'null' || json === 'json' || (kind === 'text' && !/^-?\d/.test(text!));
            return json === 'json' ? JSON.stringify(value) : fits ? text : `the ${kind} ${text}`;
          }),
      );
      const expected = wanted.map((row) =>
        row.map((text, c) =>
          species[c]!.json === 'json' ? JSON.stringify(text === null ? null : exactly(text)) : text,
        ),
      );
      expect(differences(found, expected)).toEqual([]);
    });

    /** JSON in a normalized form, and rows without IDs. */
    function plain(rows: Table, hasId = true): Table {
      return rows.map((row) =>
        (hasId ? row.slice(1) : row).map((text, c) =>
          species[c]!.json === 'json' && text !== null ? JSON.stringify(exactly(text)) : text,
        ),
      );
    }
  });
}
