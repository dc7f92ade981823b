import { closeSync, existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Kysely } from 'kysely';
import { systemClock } from '../../lib/clock.ts';
import { createPrivateFile } from '../../lib/private-file.ts';
import { SqliteDatabase } from '../../lib/sqlite.ts';
import { claimFolder } from '../claim-folder.ts';
import { useDatabase, useServer } from '../engine/database.ts';
import { migrate } from '../engine/migrate.ts';
import type { ServerLocation } from '../engine/state-database.ts';
import { openExistingStore } from '../open-existing-store.ts';
import type { Repositories } from '../store.ts';
import type { Tables } from '../tables.ts';
import { nothingThere } from './backup-files.ts';
import { exportTables } from './copy-tables.ts';

interface ExportOptions {
  /** The database file to create. */
  readonly file: string;
  /** Receives the names of the payloads and kept rows, relative to the state folder. Nothing deletes them meanwhile. */
  readonly take: (names: readonly string[]) => void;
}

/**
 * Copies a state from a server to a new database file with the newest schema. All rows are from one snapshot, which is
 * taken under the state's lock, together with the list of files. Other processes wait only while the files are taken,
 * and not while the rows are copied. Returns the names of the files.
 */
export async function exportState(location: ServerLocation, { file, take }: ExportOptions): Promise<readonly string[]> {
  const { state: folder, stateDatabase: database } = location;
  const store = await openExistingStore(location);
  if (store === undefined) throw nothingThere(location);
  // The store shares these connections.
  const { db, close } = await useServer(database, folder);
  try {
    await claimFolder(store);
    await createDatabase(file);
    const reading = await db
      .startTransaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute();
    try {
      // Most files are fetched before the lock is taken, because that can take long.
      await fetchFiles(store, folder);
      const names = await store.transaction(async (parts) => {
        await fetchFiles(parts, folder);
        const all = await filesOf(reading, parts, folder);
        take(all);
        return all;
      });
      await copyRows(reading, database.schema, file);
      return names;
    } finally {
      await reading.rollback().execute();
    }
  } finally {
    await close();
    await store.close();
  }
}

async function createDatabase(file: string): Promise<void> {
  closeSync(createPrivateFile(file));
  const engine = useDatabase(file);
  try {
    await migrate(engine, { clock: systemClock, folder: dirname(file) });
  } finally {
    await engine.close();
  }
}

async function copyRows(from: Kysely<Tables>, schema: string, file: string): Promise<void> {
  const to = new SqliteDatabase(file, { mustExist: true });
  try {
    await exportTables(from, schema, to);
  } finally {
    to.close();
  }
}

/** Fetches the payloads and kept rows that this machine doesn't have. */
async function fetchFiles({ blobs }: Repositories, folder: string): Promise<void> {
  for (const name of ['payloads', 'sets'])
    for (const path of (await blobs.below(join(folder, name))).keys()) await blobs.ensureHere(path);
}

/** Returns the files that still exist. The first query of `reading` takes its snapshot. */
async function filesOf(
  reading: Kysely<Tables>,
  { generations }: Repositories,
  folder: string,
): Promise<readonly string[]> {
  const rows = await reading
    .selectFrom('outbox')
    .select('path')
    .distinct()
    .where('state', '<>', 'superseded')
    .execute();
  const payloads = rows.map(({ path }) => relative(folder, path)).filter((name) => name.startsWith('payloads'));
  const sets = [...(await generations.files())].map((name) => join('sets', name));
  return [...payloads, ...sets].filter((name) => existsSync(join(folder, name)));
}
