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
export async function newestSchema(): Promise<readonly SchemaEntry[]> {
  const fresh = new Kysely<Tables>({ dialect: sqliteDialect('', { durable: false }) });
  await makeMigrationsTable(fresh);
  for (const { up } of migrations) await up(fresh as unknown as Kysely<unknown>);
  const entries = await entriesOf(fresh);
  await fresh.destroy();
  return entries;
}

async function entriesOf(db: Kysely<Tables>): Promise<readonly SchemaEntry[]> {
  return (await sql.raw<SchemaEntry>(schemaQuery).execute(db)).rows;
}
