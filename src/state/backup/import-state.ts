import { sql } from 'kysely';
import { SqliteDatabase } from '../../lib/sqlite.ts';
import { claimFolder } from '../claim-folder.ts';
import { useServer } from '../engine/database.ts';
import { createTables } from '../engine/migrate.ts';
import type { ServerLocation, StateDatabase } from '../engine/state-database.ts';
import { openStore } from '../store.ts';
import { importTables } from './copy-tables.ts';

interface ImportOptions {
  /** The database file to import. It has the newest schema. */
  readonly file: string;
  /** Moves the payloads and kept rows to the cache folder. */
  readonly moveFiles: () => Promise<void>;
}

/**
 * Imports a state to a server, in one transaction. An existing state is kept in a schema with another name, which is
 * returned. The files are moved before the transaction is committed, so the server never has a state without its files.
 */
export async function importState(
  { state: folder, stateDatabase: database }: ServerLocation,
  { file, moveFiles }: ImportOptions,
): Promise<string[]> {
  const engine = await useServer(database, folder);
  const from = new SqliteDatabase(file, { mustExist: true });
  try {
    const { schema } = database;
    const hasState = await engine.hasMigrations(engine.db);
    const former = hasState ? formerSchema(schema, engine.clock.now()) : undefined;
    await engine.db.transaction().execute(async (db) => {
      if (former !== undefined) await sql`alter schema ${sql.id(schema)} rename to ${sql.id(former)}`.execute(db);
      await createTables(engine, db);
      await importTables(from, db, schema);
      await moveFiles();
    });
    await claim(folder, database);
    return former === undefined ? [] : [`schema ${former}`];
  } finally {
    from.close();
    await engine.close();
  }
}

/** PostgreSQL's limit. */
const maxNameLength = 63;

function formerSchema(schema: string, now: number): string {
  const suffix = `_before_${new Date(now).toISOString().replaceAll(/\D/g, '')}`;
  return `${schema.slice(0, maxNameLength - suffix.length)}${suffix}`;
}

/** Records that the payloads are in this folder, before another process can claim another folder. */
async function claim(folder: string, database: StateDatabase): Promise<void> {
  const store = await openStore(folder, { database });
  try {
    await claimFolder(store);
  } finally {
    await store.close();
  }
}
