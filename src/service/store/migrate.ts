import { readdir } from 'node:fs/promises';
import { importOwn } from '../../lib/import-own.ts';
import { Problem } from '../../lib/problem.ts';
import { SqliteDatabase } from '../../lib/sqlite.ts';
import { type SchemaEntry, schemaDifferences, schemaHash, schemaQuery } from '../../lib/sqlite-shape.ts';
import { newestHash } from './newest-hash.ts';

const folder = new URL('./migrations/', import.meta.url);

interface Migration {
  readonly number: number;
  readonly sql: string;
}

/**
 * Migrates the database schema to the newest version. Each numbered migration file runs once, in order, in its own
 * transaction.
 */
export async function migrate(db: SqliteDatabase): Promise<void> {
  const migrations = await readMigrations();
  const done = Number(db.pragma('user_version'));
  const known = migrations.at(-1)?.number ?? 0;
  if (done > known) throw tooNew(done, known);
  for (const { number, sql } of migrations.filter((migration) => migration.number > done)) {
    db.transaction(() => {
      db.exec(sql);
      db.pragma(`user_version = ${number}`);
    }, 'exclusive');
  }
  const entries = db.prepare(schemaQuery).all<SchemaEntry>();
  if (schemaHash(entries) !== newestHash) throw other(schemaDifferences(entries, await newestSchema()));
}

/** Returns the schema of a database to which all migrations have been applied. */
export async function newestSchema(): Promise<readonly SchemaEntry[]> {
  const fresh = new SqliteDatabase(':memory:');
  for (const { sql } of await readMigrations()) fresh.exec(sql);
  const entries = fresh.prepare(schemaQuery).all<SchemaEntry>();
  fresh.close();
  return entries;
}

/**
 * Creates the error for a database whose tables differ from the newest schema, such as because a migration was edited
 * after it had run. Later statements wouldn't match these tables.
 */
function other(differences: readonly string[]): Problem {
  return new Problem({
    code: 'SERVICE_DATA_OTHER',
    family: 'config',
    message: 'the data folder was created by another build of Sluice with incompatible tables',
    seen: differences.join(', '),
    next: 'run the build that created it, or set --data to another folder',
  });
}

/** The migrations, in order. */
export async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}-[a-z-]+\.[jt]s$/.test(file)).sort();
  return Promise.all(
    files.map(async (file) => {
      const { sql } = await importOwn<{ sql: string }>(new URL(file, folder));
      return { number: Number(file.slice(0, 4)), sql };
    }),
  );
}

function tooNew(done: number, known: number): Problem {
  return new Problem({
    code: 'SERVICE_DATA_TOO_NEW',
    family: 'config',
    message: `the data folder was written by a newer version (its schema is ${done}; this version supports up to ${known})`,
    next: 'update Sluice, or set --data to another folder',
  });
}
