import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { sql } from 'kysely';
import { filesBelow } from '../../lib/files-below.ts';
import { SqliteDatabase } from '../../lib/sqlite.ts';
import type { BlobBackend } from '../blobs/blob-storage.ts';
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
import { isUnwritable } from '../engine/state-problem.ts';
import { Settings } from '../settings.ts';
import { openStore } from '../store.ts';
import { importTables } from './copy-tables.ts';
import { draftSchema, dropOldDrafts, formerSchema } from './draft-schemas.ts';

interface ImportOptions {
  /** The folder with the state to import: its database file with the newest schema, its payloads and its kept rows. */
  readonly from: string;
  /** The name of the database file in this folder. */
  readonly file: string;
  /** Moves the payloads and kept rows to the cache folder. */
  readonly moveFiles: () => Promise<void>;
}

/** A schema that is being filled, and the storage of its blobs. */
interface Draft {
  readonly engine: Engine;
  readonly schema: string;
  readonly blobs: BlobBackend;
}

/**
 * Imports a state to a server. Fills a schema with another name first, in many small transactions, because a state can
 * be large. Then moves its tables to the state's schema in one transaction. An existing state is kept in a schema with
 * another name, which is returned. If the import fails, the server has what it had before.
 */
export async function importState(location: ServerLocation, options: ImportOptions): Promise<string[]> {
  const { state: folder, stateDatabase: database } = location;
  const engine = await useServer(database, folder);
  try {
    await dropOldDrafts(engine, database.schema, (schema) => inDraft(location, schema, discard));
    const former = await inDraft(location, draftSchema(database.schema, engine.clock.now()), async (draft) => {
      try {
        await fill(draft, options);
        return await replace(engine, { schema: database.schema, draft, moveFiles: options.moveFiles });
      } catch (error) {
        await discard(draft).catch(() => undefined);
        throw error;
      }
    });
    await claim(folder, database);
    return former === undefined ? [] : [`schema ${former}`];
  } finally {
    await engine.close();
  }
}

/** Opens a draft for as long as `work` takes. */
async function inDraft<T>(
  { state: folder, stateDatabase }: ServerLocation,
  schema: string,
  work: (draft: Draft) => Promise<T>,
): Promise<T> {
  const engine = await useServer({ ...stateDatabase, schema }, folder);
  const blobs = await openBackend(engine.blobDb!, stateDatabase);
  try {
    return await work({ engine, schema, blobs });
  } finally {
    await blobs.storage.close?.();
    await engine.close();
  }
}

/** Creates the tables, copies all rows, and stores all files. */
async function fill({ engine, schema, blobs }: Draft, { from: folder, file }: ImportOptions): Promise<void> {
  const { db, clock, processes } = engine;
  await db.transaction().execute((transaction) => createTables(engine, transaction));
  const rows = new SqliteDatabase(join(folder, file), { mustExist: true });
  try {
    await importTables(rows, db, schema);
  } finally {
    rows.close();
  }
  const context = { db, clock, processes, pending: new PendingWrites(clock), folder, blobs };
  const [settings, files] = [new Settings(context), new StateBlobs(context)];
  await settings.addOnce(idName, randomUUID());
  await claimPayloads({ settings, blobs: files });
  await files.put(['payloads', 'sets'].flatMap((name) => filesBelow(join(folder, name))).map((path) => ({ path })));
}

interface ReplaceOptions extends Pick<ImportOptions, 'moveFiles'> {
  /** The state's schema. */
  readonly schema: string;
  readonly draft: Draft;
}

/**
 * Moves a draft's tables to the state's schema, which may have been created for the state or contain other tables.
 * Returns the new name of the schema with the former state. The files are moved before the transaction is committed, so
 * the server never has a state without its files.
 */
async function replace(engine: Engine, { schema, draft, moveFiles }: ReplaceOptions): Promise<string | undefined> {
  const former = (await engine.hasMigrations(engine.db)) ? formerSchema(schema, engine.clock.now()) : undefined;
  await engine.db.transaction().execute(async (db) => {
    if (former !== undefined) await sql`alter schema ${sql.id(schema)} rename to ${sql.id(former)}`.execute(db);
    await engine.createSchema?.(db);
    const tables = sql<{ name: string }>`select tablename as name from pg_tables where schemaname = ${draft.schema}`;
    for (const { name } of (await tables.execute(db)).rows)
      await sql`alter table ${sql.id(draft.schema, name)} set schema ${sql.id(schema)}`.execute(db);
    await sql`drop schema ${sql.id(draft.schema)}`.execute(db);
    await moveFiles();
  });
  return former;
}

/** Removes a draft, with its files. If they can't be removed now, keeps it, so that a later restore removes it. */
async function discard({ engine: { db }, blobs, schema }: Draft): Promise<void> {
  await blobs.storage.claims?.unclaim(db).catch((error: unknown) => {
    // A draft without tables has no files.
    if (isUnwritable(error)) throw error;
  });
  await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db);
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
