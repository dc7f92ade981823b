import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import { SqliteDatabase } from '../../lib/sqlite.ts';
import { databaseStorage } from '../blobs/database-storage.ts';
import { storeFile } from '../blobs/store-file.ts';
import { claimFolder } from '../claim-folder.ts';
import { useServer } from '../engine/database.ts';
import { createTables } from '../engine/migrate.ts';
import type { ServerLocation, StateDatabase } from '../engine/state-database.ts';
import { storedPath } from '../engine/stored-paths.ts';
import { filesBelow } from '../folder-files.ts';
import { openStore } from '../store.ts';
import type { Tables } from '../tables.ts';
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
      await storeFilesIn(folder, db, engine.clock);
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

/** Stores the payloads and kept rows in a folder as blobs. */
async function storeFilesIn(folder: string, db: Kysely<Tables>, clock: Pick<Clock, 'now'>): Promise<void> {
  const now = Math.round(clock.now());
  for (const path of ['payloads', 'sets'].flatMap((name) => filesBelow(join(folder, name))))
    await storeFile({ db, storage: databaseStorage }, { path, name: storedPath(folder, path), now });
}

/** Records that the folder belongs to this state. */
async function claim(folder: string, database: StateDatabase): Promise<void> {
  const store = await openStore(folder, { database });
  try {
    await claimFolder(store);
  } finally {
    await store.close();
  }
}
