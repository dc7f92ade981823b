import { existsSync, readFileSync, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { commandLine } from '../../lib/command-line.ts';
import { redact } from '../../lib/redact.ts';
import { SqliteDatabase } from '../../lib/sqlite.ts';
import { type Inspection, inspectState } from '../../state/backup/inspect.ts';
import { asOwner } from '../../state/engine/folder-advice.ts';
import { databaseText } from '../../state/engine/state-database.ts';
import { bad, type Finding, good } from './finding.ts';
import { examineFullness } from './fullness.ts';
import { examineLeftovers } from './leftovers.ts';
import { writtenSecrets } from './written-secrets.ts';
import { examineZones } from './zones.ts';

/**
 * Free space that the state needs in addition to its payloads: for the database, the write-ahead log, and one payload
 * in progress.
 */
const spareBytes = 64 * 1024 * 1024;
const forOthers = 0o077;

/**
 * Checks everything on this machine that the config uses. Doesn't write or send anything. `now` is in epoch
 * milliseconds.
 */
export function examine(config: Config, { now, version }: { now: number; version: string }): Finding[] {
  return [
    examineVersions(version),
    ...examineFiles(config),
    ...examineSecretFiles(config),
    ...examineState(config, now),
    ...examineZones(config, now),
  ];
}

function examineFiles({ file, state }: Config): Finding[] {
  const found: Finding[] = [];
  const isOpen = (statSync(file).mode & forOthers) !== 0;
  const secrets = isOpen ? writtenSecrets(file, readFileSync(file, 'utf8')) : [];
  found.push(
    secrets.length > 0
      ? bad(
          'config file',
          `other users can read it, and it contains secrets: ${redact(secrets.join(', '))}`,
          `${commandLine('chmod', 600, file)}, or replace the secrets with \${env:NAME}`,
        )
      : good('config file', 'contains no secrets that other users can read'),
  );
  for (const path of [state, join(state, 'sluice.db')]) {
    const stat = statOf(path);
    if (stat === undefined) continue;
    const mode = (stat.mode & 0o777).toString(8);
    // If root runs this command, the state may belong to the system service's user.
    if (![0, stat.uid].includes(process.getuid?.() ?? 0)) {
      found.push(bad('state owner', `${path} belongs to user ${stat.uid}`, asOwner(stat.uid)));
    }
    if ((stat.mode & forOthers) !== 0) {
      const fix = commandLine('chmod', stat.isDirectory() ? 700 : 600, path);
      found.push(bad('state permissions', `other users can read ${path} (mode ${mode})`, fix));
    } else found.push(good('state permissions', `${path} is private to its owner (mode ${mode})`));
  }
  return found;
}

/** Also undefined if the current user lacks permission; the database check reports that case. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Returns the files that the config refers to with `${file:PATH}`. */
function examineSecretFiles({ file, folder }: Config): Finding[] {
  const named = [...readFileSync(file, 'utf8').matchAll(/\$\{file:([^}]+)\}/g)].map(([, path]) =>
    resolve(folder, path!),
  );
  return [...new Set(named)].flatMap((path) => {
    const mode = statOf(path)?.mode ?? 0;
    return (mode & forOthers) === 0
      ? []
      : [bad('secret file', `other users can read ${path}`, commandLine('chmod', 600, path))];
  });
}

function examinePayloads(missing: readonly string[]): Finding[] {
  if (missing.length === 0) return [];
  const message = `${missing.length} unsent payloads are missing or damaged on disk; the first is ${missing[0]}`;
  return [bad('payloads', message, 'run "sluice sync" to run the jobs again, then check the disk for errors')];
}

function examineState(config: Config, now: number): Finding[] {
  const { state, stateDatabase } = config;
  if (stateDatabase !== undefined)
    return [
      good('state', `in ${databaseText(stateDatabase)}, with copies of payloads in ${state}`),
      roomFinding(state, 0),
    ];
  const look = inspectState(state);
  const { owed = 0, largest = 0, missing = [] } = look ?? {};
  return [
    ...(look === undefined ? [good('state', `none yet in ${state}`)] : [storeFinding(look)]),
    ...examinePayloads(missing),
    roomFinding(state, owed + 2 * largest),
    ...(look?.integrity === 'ok' ? examineFullness(config, look.payloads) : []),
    ...(look?.integrity === 'ok' ? examineLeftovers(config, new Set(look.payloads.map(({ path }) => path)), now) : []),
  ];
}

function storeFinding({ integrity, unread, schema, newest, isOther }: Inspection): Finding {
  if (unread !== undefined) return bad('database', `cannot be read: ${unread.message}`, unread.next ?? unread.code);
  if (integrity !== 'ok')
    return bad('database', `it is damaged: ${integrity}`, 'restore a backup: sluice restore FOLDER --replace');
  if (schema > newest)
    return bad(
      'database',
      `written by a newer version of Sluice (schema ${schema}; this version supports up to ${newest})`,
      'run the newer version',
    );
  if (isOther === true)
    return bad(
      'database',
      `created by another build of Sluice: the schema is also ${schema}, but its tables differ`,
      'run that build until all payloads are sent, then move the state folder away and start again',
    );
  const later =
    schema < newest ? `; the next start migrates it from schema ${schema} to ${newest}` : `, schema ${schema}`;
  return good('database', `whole${later}`);
}

function roomFinding(state: string, payloads: number): Finding {
  let folder = state;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  return diskFinding({ free: bavail * bsize, payloads, state });
}

/** Compares the free space with the size of the owed payloads and with twice the size of the largest payload so far. */
export function diskFinding({ free, payloads, state }: { free: number; payloads: number; state: string }): Finding {
  const wanted = payloads + spareBytes;
  const message = `${Math.floor(free / 1e6)} MB free, ${Math.ceil(wanted / 1e6)} MB may be required`;
  return free >= wanted
    ? good('disk', message)
    : bad('disk', message, `free up space on the disk that contains ${state}`);
}

/**
 * Reports the versions of Sluice, Node and SQLite. An outdated Node never gets here, because `src/cli/sluice.js`
 * refuses to start.
 */
function examineVersions(sluice: string): Finding {
  const database = new SqliteDatabase(':memory:');
  const sqlite = String(database.prepare('select sqlite_version()').value());
  database.close();
  return good('versions', `Sluice ${sluice}, Node ${process.versions.node}, SQLite ${sqlite}`);
}
