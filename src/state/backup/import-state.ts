import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { SqliteDatabase } from '../../lib/sqlite.ts';
import { StateBlobs } from '../blobs/blobs.ts';
import { openBackend } from '../blobs/open-storage.ts';
import { idName } from '../blobs/state-id.ts';
import { claimFolder } from '../claim-folder.ts';
import { claimPayloads } from '../claim-payloads.ts';
import { useServer } from '../engine/database.ts';
import type { Engine } from '../engine/engine.ts';
import { createTables } from '../engine/migrate.ts';
import { PendingWrites } from '../engine/pending-writes.ts';
import type { ServerLocation, StateDatabase } from '../engine/state-database.ts';
import { filesBelow } from '../folder-files.ts';
import { Settings } from '../settings.ts';
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
      await storeFiles(engine, { state: folder, stateDatabase: database }, db);
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

/** Stores the payloads and kept rows in the cache folder as blobs. `db` is the transaction that imports the rows. */
async function storeFiles(
  { clock, processes }: Engine,
  { state: folder, stateDatabase: database }: ServerLocation,
  db: Kysely<Tables>,
): Promise<void> {
  const backend = await openBackend(db, database);
  const context = { db, clock, processes, pending: new PendingWrites(clock), folder, blobs: backend };
  const [settings, blobs] = [new Settings(context), new StateBlobs(context)];
  await settings.addOnce(idName, randomUUID());
  await claimPayloads({ settings, blobs });
  await blobs.put(['payloads', 'sets'].flatMap((name) => filesBelow(join(folder, name))).map((path) => ({ path })));
  await backend.storage.close?.();
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
