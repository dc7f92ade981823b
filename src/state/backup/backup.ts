import { closeSync, constants, existsSync, fchmodSync, linkSync, mkdirSync } from 'node:fs';
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { refuseLinksIn } from '../../lib/foreign-links.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { createPrivateFile, createPrivateHandle, openNoLink } from '../../lib/private-file.ts';
import { Problem } from '../../lib/problem.ts';
import { SqliteDatabase } from '../../lib/sqlite.ts';
import { syncPath, syncTree } from '../../lib/sync-path.ts';
import { hasDatabase } from '../engine/has-database.ts';
import type { ServerLocation, StateLocation } from '../engine/state-database.ts';
import { emptied, stateProblem } from '../engine/state-problem.ts';
import { absolutePath } from '../engine/stored-paths.ts';
import {
  type BackupManifest,
  databaseName,
  keyName,
  manifestName,
  measure,
  namesIn,
  nothingThere,
} from './backup-files.ts';

const stagePrefix = '.backup-';
/** Age after which a staging folder is deleted. A backup that was killed has left it behind. */
const staleMs = 24 * 60 * 60 * 1000;
const busyTimeoutMs = 15_000;

export interface BackupResult {
  readonly folder: string;
  readonly payloads: number;
  readonly bytes: number;
}

/**
 * Creates a backup of a state while Sluice may be using it. The backup contains a snapshot of the database, the
 * payloads that it refers to, and the login key. The database and the payloads are consistent, because the payload
 * files are hard-linked under the write lock and are never deleted without holding it. Writers wait only while the
 * links and, for a state in a folder, the copy of the database are being made. A database in a folder isn't migrated,
 * even if an older version of Sluice wrote it. `into` must be an empty folder or must not exist.
 */
export async function backUp(location: StateLocation, into: string, now: number): Promise<BackupResult> {
  const { state, stateDatabase: database } = location;
  const folder = resolve(into);
  if (database === undefined && !hasDatabase(state)) throw nothingThere(location);
  if ((await namesIn(folder)).length > 0) throw notEmpty(folder);
  for (const one of [folder, state]) makeFolder(one, 0o700, { lasting: true });
  refuseLinksIn(state);
  await removeStale(state, now);
  const stage = await mkdtemp(join(state, stagePrefix));
  try {
    const to = { stage, database: join(folder, databaseName) };
    const files =
      database === undefined ? await snapshot(state, to) : await exported({ state, stateDatabase: database }, to);
    for (const file of files) await copyOut(join(stage, file), join(folder, file));
    const key = join(state, keyName);
    if (existsSync(key)) await copyOut(key, join(folder, keyName));
    const payloads = files.filter((file) => file.startsWith('payloads')).length;
    return { folder, payloads, bytes: await seal(folder, { files, now }) };
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

interface SnapshotTarget {
  /** The folder for the links. */
  readonly stage: string;
  /** The database file to create. */
  readonly database: string;
}

/** Like {@link snapshot}, for a state whose database is on a server. */
async function exported(location: ServerLocation, to: SnapshotTarget): Promise<readonly string[]> {
  const { exportState } = await import('./export-state.ts');
  return exportState(location, { file: to.database, take: (names) => linkAll(names, location.state, to.stage) });
}

/**
 * Links the payloads whose files still exist (owed, set aside, or kept for a rollback) and the jobs' kept rows into
 * `stage`, and copies the database. All of this data is from the same instant.
 */
async function snapshot(state: string, to: SnapshotTarget): Promise<string[]> {
  const options = { mustExist: true, busyTimeoutMs };
  let lock: SqliteDatabase | undefined;
  // The first connection holds the write lock, so a second connection must read the database for the copy.
  let source: SqliteDatabase | undefined;
  try {
    lock = new SqliteDatabase(join(state, databaseName), options);
    source = new SqliteDatabase(join(state, databaseName), options);
    lock.exec('begin immediate');
    if (!hasTable(lock, 'outbox')) throw emptied(state);
    const names = [...payloadsIn(lock, state), ...setsIn(lock, state)];
    linkAll(names, state, to.stage);
    closeSync(createPrivateFile(to.database));
    await source.backup(to.database);
    return names;
  } catch (error) {
    throw stateProblem(error, join(state, databaseName));
  } finally {
    source?.close();
    lock?.close();
  }
}

/** Returns the paths of the payload files that still exist, relative to the state folder. */
function payloadsIn(database: SqliteDatabase, state: string): string[] {
  const wanted = database.prepare("select path from outbox where state <> 'superseded'").all<{ path: string }>();
  const files = [...new Set(wanted.map(({ path }) => absolutePath(state, path)))].filter((path) => existsSync(path));
  return files.map((path) => relative(state, path)).filter((name) => name.startsWith('payloads'));
}

function hasTable(database: SqliteDatabase, name: string): boolean {
  return database.prepare('select 1 from sqlite_master where name = ?').get(name) !== undefined;
}

/**
 * Returns the paths of the jobs' kept rows. If a file is missing, the others are still backed up. A state folder from
 * an older version has no kept rows.
 */
function setsIn(database: SqliteDatabase, state: string): string[] {
  if (!hasTable(database, 'generations')) return [];
  const lists = database
    .prepare(
      "select manifest ->> '$.segments' as files from generations union all select staged ->> '$.segments' from backfills where staged is not null",
    )
    .all<{ files: string }>();
  const segments = lists.flatMap(({ files }) => JSON.parse(files) as { readonly file: string }[]);
  const files = new Set(segments.map(({ file }) => join('sets', file)));
  return [...files].filter((file) => existsSync(join(state, file)));
}

function linkAll(names: readonly string[], from: string, to: string): void {
  for (const name of names) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    linkSync(join(from, name), join(to, name));
  }
}

async function copyOut(from: string, to: string): Promise<void> {
  makeFolder(dirname(to), 0o700);
  // Don't follow links. If a payload or key were replaced by a link, another file on this machine would be copied into
  // the backup.
  const source = openNoLink(from);
  const target = createPrivateFile(to);
  try {
    await copyFile(pathOf(source, from), pathOf(target, to), constants.COPYFILE_FICLONE);
    fchmodSync(target, 0o600);
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

/**
 * Returns a path that refers to the open file itself, so that a file that replaces it at `path` isn't read. Such a path
 * exists only on Linux.
 */
function pathOf(descriptor: number, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : path;
}

/** Checks the copied database and writes the manifest. Returns the total size of all files in bytes. */
async function seal(
  folder: string,
  { files: copied, now }: { files: readonly string[]; now: number },
): Promise<number> {
  const database = new SqliteDatabase(join(folder, databaseName));
  try {
    // Make the database a single self-contained file, without a write-ahead log.
    database.pragma('journal_mode = DELETE');
    const result = database.pragma('quick_check');
    if (result !== 'ok') throw damaged(String(result));
  } finally {
    database.close();
  }
  const key = existsSync(join(folder, keyName)) ? [keyName] : [];
  const names = [databaseName, ...key, ...copied];
  const files: BackupManifest['files'][number][] = [];
  // Read one file at a time. Opening thousands of files at once would exceed the process's limit on open files.
  for (const file of names) files.push({ file, ...(await measure(join(folder, file))) });
  // The manifest marks the backup as complete, so write it only after everything else has been synced to disk.
  await syncTree(folder);
  const manifest: BackupManifest = { format: 1, made_at: new Date(now).toISOString(), files };
  const handle = await createPrivateHandle(join(folder, manifestName));
  try {
    await handle.writeFile(`${JSON.stringify(manifest, undefined, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncPath(folder);
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Removes old staging folders. This user may not remove one that another user's backup has left behind, such as root's.
 * It isn't needed and "sluice doctor" reports it, so it doesn't prevent this user's backups.
 */
async function removeStale(state: string, now: number): Promise<void> {
  for (const name of await namesIn(state)) {
    if (!name.startsWith(stagePrefix)) continue;
    const path = join(state, name);
    try {
      if ((await stat(path)).mtimeMs < now - staleMs) await rm(path, { recursive: true, force: true });
    } catch (error) {
      if (!['EACCES', 'EPERM', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

function notEmpty(folder: string): Problem {
  return new Problem({
    code: 'BACKUP_EXISTS',
    family: 'config',
    message: 'The backup folder is not empty; nothing was written',
    seen: folder,
    allowed: 'a folder that is empty or does not exist',
    next: 'use a new folder for each backup, for example with the date in its name',
  });
}

function damaged(seen: string): Problem {
  return new Problem({
    code: 'STATE_DAMAGED',
    family: 'job',
    message: 'The database is damaged, and so is its copy',
    seen,
    next: 'restore an earlier backup',
  });
}
