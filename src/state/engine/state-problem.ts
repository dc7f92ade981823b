import { closeSync, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { openFilesProblem, Problem } from '../../lib/problem.ts';
import { sqliteErrorName } from '../../lib/sqlite.ts';

const unwritable: ReadonlySet<string> = new Set([
  ...['STATE_FULL', 'STATE_LOCKED', 'STATE_UNREADABLE', 'OPEN_FILES_LIMIT'],
  // A state on a server. A refused login may be temporary too, such as while the password is being changed.
  ...['STATE_UNREACHABLE', 'STATE_READ_ONLY', 'STATE_REFUSED'],
  // Its payloads, if they're in a bucket.
  ...['PAYLOADS_UNREACHABLE', 'PAYLOADS_REFUSED'],
]);

/**
 * Returns whether the error may be temporary: the disk is full, failing, locked or read-only, or the database's server
 * isn't available.
 */
export function isUnwritable(error: unknown): error is Problem {
  return error instanceof Problem && unwritable.has(error.code);
}

/** Formats the error as one line for users: `The state is not writable: …`. */
export function unwritableText({ message, seen, next }: Problem): string {
  return `The state is not writable: ${message} (${seen}). No jobs run and no data is sent until it is writable again; ${next}.`;
}

const restore = 'stop Sluice, then restore a backup: sluice restore FOLDER --replace; the current state is moved aside';

/**
 * Converts an SQLite error to a Problem if the disk or the file caused the error: `STATE_DAMAGED`, `STATE_FULL`,
 * `STATE_LOCKED`, `STATE_UNREADABLE` or `OPEN_FILES_LIMIT`. Returns any other error unchanged.
 */
export function stateProblem(error: unknown, file: string): unknown {
  const code = sqliteErrorName(error);
  if (code === undefined) return error;
  const given = { seen: `${code} in ${file}`, cause: error };
  // If the schema table is damaged, SQLite reports a generic error with this message.
  const isMalformed = String((error as Error).message).startsWith('malformed database schema');
  if (isMalformed || /^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damaged(given);
  if (code === 'SQLITE_FULL' || (code.startsWith('SQLITE_IOERR') && hasNoRoom(dirname(file)))) return full(given, file);
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return locked(given);
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM)/.test(code)) return outOfFiles(dirname(file)) ?? unreadable(given, file);
  return error;
}

/**
 * Like {@link stateProblem}, but for a file system error of a state file. Returns undefined if the disk didn't cause
 * the error.
 */
export function stateFileProblem(error: unknown, file: string): Problem | undefined {
  const { code = '' } = error as NodeJS.ErrnoException;
  const given = { seen: `${code} in ${file}`, cause: error };
  const limited = openFilesProblem(error);
  if (limited !== undefined) return limited;
  if (code === 'ENOSPC' || code === 'EDQUOT') return full(given, file);
  return code === 'EIO' ? unreadable(given, file) : undefined;
}

/**
 * Creates the error for an empty database in a folder that contains payload files. If the database were treated as new,
 * these files would be deleted.
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

/**
 * Returns whether the disk is full. On a full disk, SQLite's shared memory can't grow, which SQLite reports as an I/O
 * error.
 */
function hasNoRoom(folder: string): boolean {
  try {
    return statfsSync(folder).bavail === 0;
  } catch {
    return false;
  }
}

/** Number of files that a state needs: the database, its journals and its folder. */
const filesOfState = 5;

/**
 * Returns an error if this process has reached its limit on open files. SQLite only reports "cannot open file", so this
 * function opens some files to find out.
 */
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
