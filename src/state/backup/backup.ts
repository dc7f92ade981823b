import { closeSync, constants, existsSync, fchmodSync, linkSync, mkdirSync } from 'node:fs';
import { copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { makeFolder } from '../../lib/make-folder.ts';
import { createPrivateFile, openNoLink } from '../../lib/private-file.ts';
import { Problem } from '../../lib/problem.ts';
import { SqliteDatabase } from '../../lib/sqlite.ts';
import { syncPath, syncTree } from '../../lib/sync-path.ts';
import { hasDatabase } from '../engine/has-database.ts';
import { emptied, stateProblem } from '../engine/state-problem.ts';
import { absolutePath } from '../engine/stored-paths.ts';
import { refuseLinksIn } from '../links.ts';
import { type BackupManifest, databaseName, keyName, manifestName, measure, namesIn } from './backup-files.ts';

const stagePrefix = '.backup-';
/** A staging folder older than this was left behind by a killed backup. */
const staleMs = 24 * 60 * 60 * 1000;
const busyTimeoutMs = 15_000;

export interface BackupResult {
  readonly folder: string;
  readonly payloads: number;
  readonly bytes: number;
}

/**
 * Takes a hot backup of a state folder: a snapshot of the database, the payloads it refers to, and the login key.
 * Database and payloads are consistent because files are hard-linked under the write lock and are deleted only under
 * that lock. Writers wait only while the links and the database copy are made. The database isn't migrated, even if an
 * older version of Sluice wrote it. `into` must be missing or empty.
 */
export async function backUp(state: string, into: string, now: number): Promise<BackupResult> {
  const folder = resolve(into);
  if (!hasDatabase(state)) throw nothingThere(state);
  if ((await namesIn(folder)).length > 0) throw notEmpty(folder);
  makeFolder(folder, 0o700, { lasting: true });
  refuseLinksIn(state);
  await removeStale(state, now);
  const stage = await mkdtemp(join(state, stagePrefix));
  try {
    const files = await snapshot(state, { stage, database: join(folder, databaseName) });
    for (const file of files) await copyOut(join(stage, file), join(folder, file));
    const key = join(state, keyName);
    if (existsSync(key)) await copyOut(key, join(folder, keyName));
    const payloads = files.filter((file) => file.startsWith('payloads')).length;
    return { folder, payloads, bytes: await seal(folder, { files, now }) };
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/**
 * Links the payloads that still exist (owed, set aside, or kept for a rollback) and the jobs' kept rows into `stage`,
 * and copies the database, all as of the same instant.
 */
async function snapshot(state: string, to: { stage: string; database: string }): Promise<string[]> {
  const options = { mustExist: true, busyTimeoutMs };
  let lock: SqliteDatabase | undefined;
  // A second, read-only connection must read the copy, because the first one holds the write lock.
  let source: SqliteDatabase | undefined;
  try {
    lock = new SqliteDatabase(join(state, databaseName), options);
    source = new SqliteDatabase(join(state, databaseName), options);
    lock.exec('begin immediate');
    if (!hasTable(lock, 'outbox')) throw emptied(state);
    const names = [...payloadsIn(lock, state), ...setsIn(lock, state)];
    for (const name of names) linkInto(join(state, name), join(to.stage, name));
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

/** Paths of payload files that still exist, relative to the state folder. */
function payloadsIn(database: SqliteDatabase, state: string): string[] {
  const wanted = database.prepare("select path from outbox where state <> 'superseded'").all<{ path: string }>();
  const files = [...new Set(wanted.map(({ path }) => absolutePath(state, path)))].filter((path) => existsSync(path));
  return files.map((path) => relative(state, path)).filter((name) => name.startsWith('payloads'));
}

function hasTable(database: SqliteDatabase, name: string): boolean {
  return database.prepare('select 1 from sqlite_master where name = ?').get(name) !== undefined;
}

/**
 * Paths of the jobs' kept rows. A missing file doesn't stop the backup of the others. States of older versions have no
 * kept rows.
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

function linkInto(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  linkSync(from, to);
}

async function copyOut(from: string, to: string): Promise<void> {
  makeFolder(dirname(to), 0o700);
  // Don't follow links: a link in place of a payload or key would copy another file on this machine into the backup.
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

/** The path of the open file itself, so a file swapped in at `path` isn't read. Only Linux has such a path. */
function pathOf(descriptor: number, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : path;
}

/** Verifies the copy and writes the manifest. Returns the total bytes of all files. */
async function seal(
  folder: string,
  { files: copied, now }: { files: readonly string[]; now: number },
): Promise<number> {
  const database = new SqliteDatabase(join(folder, databaseName));
  try {
    // A single self-contained file, without a write-ahead log.
    database.pragma('journal_mode = DELETE');
    const said = database.pragma('quick_check');
    if (said !== 'ok') throw damaged(String(said));
  } finally {
    database.close();
  }
  const key = existsSync(join(folder, keyName)) ? [keyName] : [];
  const names = [databaseName, ...key, ...copied];
  const files: BackupManifest['files'][number][] = [];
  // One at a time: opening thousands of files at once would exceed the process's limit.
  for (const file of names) files.push({ file, ...(await measure(join(folder, file))) });
  // The manifest marks the backup as complete, so it's written after everything else is synced.
  await syncTree(folder);
  const manifest: BackupManifest = { format: 1, made_at: new Date(now).toISOString(), files };
  await writeFile(join(folder, manifestName), `${JSON.stringify(manifest, undefined, 2)}\n`, {
    flag: 'wx',
    mode: 0o600,
    flush: true,
  });
  await syncPath(folder);
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function removeStale(state: string, now: number): Promise<void> {
  for (const name of await namesIn(state)) {
    if (!name.startsWith(stagePrefix)) continue;
    const path = join(state, name);
    if ((await stat(path)).mtimeMs < now - staleMs) await rm(path, { recursive: true, force: true });
  }
}

function nothingThere(state: string): Problem {
  return new Problem({
    code: 'STATE_MISSING',
    family: 'config',
    message: 'There is no state to back up',
    seen: state,
    next: 'set --config to the config of that state',
  });
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

function damaged(said: string): Problem {
  return new Problem({
    code: 'STATE_DAMAGED',
    family: 'job',
    message: 'The database is damaged, and so is its copy',
    seen: said,
    next: 'restore an earlier backup',
  });
}
