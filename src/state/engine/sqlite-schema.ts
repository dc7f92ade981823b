import { Kysely, sql } from 'kysely';
import { type SchemaEntry, schemaDifferences, schemaHash, schemaQuery } from '../../lib/sqlite-shape.ts';
import { migrations } from '../migrations/index.ts';
import { newestHash } from '../migrations/newest-hash.ts';
import type { Tables } from '../tables.ts';
import { makeMigrationsTable } from './migrate.ts';
import { sqliteDialect } from './sqlite.ts';

/** Returns whether an SQLite database has the table of applied migrations. */
export async function hasMigrations(db: Kysely<Tables>): Promise<boolean> {
  const known = await sql`select 1 from sqlite_schema where type = 'table' and name = 'migrations'`.execute(db);
  return known.rows.length > 0;
}

/**
 * Returns how an SQLite database's tables differ from the newest schema, such as because a step was edited after this
 * database had applied it.
 */
export async function differencesFromNewest(db: Kysely<Tables>): Promise<readonly string[]> {
  const found = await entriesOf(db);
  return schemaHash(found) === newestHash ? [] : schemaDifferences(found, await newestSchema());
}

/** Returns the schema of a state database to which all steps have been applied. */
export function newestSchema(): Promise<readonly SchemaEntry[]> {
  return inNewest(entriesOf);
}

/** The columns of a table, such as `at bigint not null, number integer not null`. */
export interface TableColumns {
  readonly name: string;
  readonly columns: string;
}

/** Returns the tables of the newest schema, in a form that doesn't depend on the database. */
export function newestColumns(): Promise<readonly TableColumns[]> {
  return inNewest(async (db) => (await sql.raw<TableColumns>(columnsQuery).execute(db)).rows);
}

/** A column of a primary key is never null on a server. */
const columnsQuery = `select m.name, group_concat(
    c.name || ' ' || lower(c.type) || case when c."notnull" or c.pk > 0 then ' not null' else '' end, ', ' order by c.name
  ) as columns
  from sqlite_schema m join pragma_table_info(m.name) c
  where m.type = 'table' and m.name not like 'sqlite\\_%' escape '\\'
  group by m.name order by m.name`;

async function inNewest<T>(read: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const fresh = new Kysely<Tables>({ dialect: sqliteDialect('', { durable: false }) });
  await makeMigrationsTable(fresh);
  for (const { up } of migrations) await up(fresh as unknown as Kysely<unknown>);
  return read(fresh).finally(() => fresh.destroy());
}

async function entriesOf(db: Kysely<Tables>): Promise<readonly SchemaEntry[]> {
  return (await sql.raw<SchemaEntry>(schemaQuery).execute(db)).rows;
}
