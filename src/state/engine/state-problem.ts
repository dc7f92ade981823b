import { closeSync, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { openFilesProblem, Problem } from '../../lib/problem.ts';
import { sqliteErrorName } from '../../lib/sqlite.ts';

const unwritable: ReadonlySet<string> = new Set(['STATE_FULL', 'STATE_LOCKED', 'STATE_UNREADABLE', 'OPEN_FILES_LIMIT']);

/** True if the failure may be temporary: the disk is full, failing or read-only. */
export function isUnwritable(error: unknown): error is Problem {
  return error instanceof Problem && unwritable.has(error.code);
}

/** A one-line message for users: `The state is not writable: …`. */
export function unwritableText({ message, seen, next }: Problem): string {
  return `The state is not writable: ${message} (${seen}). No jobs run and no data is sent until it is writable again; ${next}.`;
}

const restore = 'stop Sluice, then restore a backup: sluice restore FOLDER --replace; the current state is moved aside';

/**
 * Converts an SQLite error to a Problem if the disk or the file caused it: `STATE_DAMAGED`, `STATE_FULL`,
 * `STATE_LOCKED`, `STATE_UNREADABLE`, `OPEN_FILES_LIMIT`. Any other error is returned unchanged.
 */
export function stateProblem(error: unknown, file: string): unknown {
  const code = sqliteErrorName(error);
  if (code === undefined) return error;
  const given = { seen: `${code} in ${file}`, cause: error };
  // SQLite reports a damaged schema table as a generic error with this text.
  const isMalformed = String((error as Error).message).startsWith('malformed database schema');
  if (isMalformed || /^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damaged(given);
  if (code === 'SQLITE_FULL' || (code.startsWith('SQLITE_IOERR') && hasNoRoom(dirname(file)))) return full(given, file);
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return locked(given);
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM)/.test(code)) return outOfFiles(dirname(file)) ?? unreadable(given, file);
  return error;
}

/** Converts a file system error of a state file, like {@link stateProblem}; undefined if the disk didn't cause it. */
export function stateFileProblem(error: unknown, file: string): Problem | undefined {
  const { code = '' } = error as NodeJS.ErrnoException;
  const given = { seen: `${code} in ${file}`, cause: error };
  const limited = openFilesProblem(error);
  if (limited !== undefined) return limited;
  if (code === 'ENOSPC' || code === 'EDQUOT') return full(given, file);
  return code === 'EIO' ? unreadable(given, file) : undefined;
}

/**
 * The database is empty although payload files exist next to it. If it counted as a new state, these files would be
 * deleted.
 */
export function emptied(folder: string): Problem {
  return new Problem({
    code: 'STATE_DAMAGED',
    family: 'config',
    message: 'The state database is empty, but payloads of earlier runs exist; nothing was changed',
    seen: folder,
    next: `${restore}; without a backup, move ${folder} away to start over`,
  });
}

/** If the disk is full, SQLite's shared memory can't grow, which SQLite reports as an I/O error. */
function hasNoRoom(folder: string): boolean {
  try {
    return statfsSync(folder).bavail === 0;
  } catch {
    return false;
  }
}

/** The database, its journals and its folder. */
const filesOfState = 5;

/** SQLite only reports "cannot open file", so open some files to find out whether the process may open more. */
function outOfFiles(folder: string): Problem | undefined {
  const opened: number[] = [];
  try {
    while (opened.length < filesOfState) opened.push(openSync(folder, 'r'));
    return undefined;
  } catch (error) {
    return openFilesProblem(error);
  } finally {
    for (const file of opened) closeSync(file);
  }
}

interface StateProblemOptions {
  readonly seen: string;
  readonly cause: unknown;
}

function damaged(given: StateProblemOptions): Problem {
  return new Problem({
    code: 'STATE_DAMAGED',
    family: 'config',
    message: 'The state database is damaged',
    next: `${restore}; "sluice doctor" checks everything else`,
    ...given,
  });
}

function full(given: StateProblemOptions, file: string): Problem {
  return new Problem({
    code: 'STATE_FULL',
    family: 'try_later',
    message: 'Disk full: the state cannot be written',
    next: `free some space in ${dirname(file)}, or move the state folder to a larger disk`,
    ...given,
  });
}

function locked(given: StateProblemOptions): Problem {
  return new Problem({
    code: 'STATE_LOCKED',
    family: 'try_later',
    message: 'The state database is locked: another process has been writing for longer than 15 s',
    next: 'find the process that has the file open (fuser -v FILE) and stop it; Sluice itself locks the file only briefly',
    ...given,
  });
}

function unreadable(given: StateProblemOptions, file: string): Problem {
  return new Problem({
    code: 'STATE_UNREADABLE',
    family: 'try_later',
    message: 'Disk error: the state database cannot be read or written',
    next: `check the disk and the permissions of ${dirname(file)}: "sluice doctor" checks both`,
    ...given,
  });
}
