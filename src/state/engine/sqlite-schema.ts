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

/** A table's columns and indexes, such as `at bigint not null; number integer not null; unique (number)`. */
export interface TableParts {
  readonly name: string;
  readonly parts: string;
}

/** Returns the tables of the newest schema, in a form that doesn't depend on the database. */
export function newestTables(): Promise<readonly TableParts[]> {
  return inNewest(async (db) => (await sql.raw<TableParts>(tablesQuery).execute(db)).rows);
}

/** On a server, a primary key has an index of its own, and its columns are never null. */
const tablesQuery = `
  with tables (name) as (
    select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'
  ), parts (name, place, part) as (
    select t.name, 'column', c.name || ' ' || lower(c.type) || case when c."notnull" or c.pk > 0 then ' not null' else '' end
    from tables t join pragma_table_info(t.name) c
    union all
    select t.name, 'index', 'unique (' || group_concat(c.name, ', ' order by c.pk) || ')'
    from tables t join pragma_table_info(t.name) c where c.pk > 0 group by t.name
    union all
    select t.name, 'index', case when i."unique" then 'unique (' else 'index (' end ||
      (select group_concat(c.name, ', ' order by c.seqno) from pragma_index_info(i.name) c) || ')' ||
      case when i.partial then ' partial' else '' end
    from tables t join pragma_index_list(t.name) i where i.origin <> 'pk'
  )
  select name, group_concat(part, '; ' order by place, part) as parts from parts group by name order by name`;

async function inNewest<T>(read: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const fresh = new Kysely<Tables>({ dialect: sqliteDialect('', { durable: false }) });
  await makeMigrationsTable(fresh);
  for (const { up } of migrations) await up(fresh as unknown as Kysely<unknown>);
  return read(fresh).finally(() => fresh.destroy());
}

async function entriesOf(db: Kysely<Tables>): Promise<readonly SchemaEntry[]> {
  return (await sql.raw<SchemaEntry>(schemaQuery).execute(db)).rows;
}
