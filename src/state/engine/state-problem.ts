import { closeSync, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { openFilesProblem, Problem } from '../../lib/problem.ts';
import { sqliteErrorName } from '../../lib/sqlite.ts';

const unwritable: ReadonlySet<string> = new Set(['STATE_FULL', 'STATE_LOCKED', 'STATE_UNREADABLE', 'OPEN_FILES_LIMIT']);

/** True where the state could not be written or read now, and may be later: the disk is full, fails or is read-only. */
export function isUnwritable(error: unknown): error is Problem {
  return error instanceof Problem && unwritable.has(error.code);
}

/** `The state is not writable: …`, for people who ask how Sluice is; one line. */
export function unwritableText({ message, seen, next }: Problem): string {
  return `The state is not writable: ${message} (${seen}). Nothing runs or is sent until it is; ${next}.`;
}

const restore = 'stop Sluice, then: sluice restore FOLDER --replace, from a backup; the current state is moved aside';

/**
 * What SQLite says of a state's database, as a Problem where it is the disk's or the file's fault and not ours:
 * `STATE_DAMAGED`, `STATE_FULL`, `STATE_LOCKED`, `STATE_UNREADABLE`, `OPEN_FILES_LIMIT`. Anything else comes back as it is.
 */
export function stateProblem(error: unknown, file: string): unknown {
  const code = sqliteErrorName(error);
  if (code === undefined) return error;
  const given = { seen: `${code} in ${file}`, cause: error };
  // A table that has lost its name is told as a plain error, with this text.
  const isMalformed = String((error as Error).message).startsWith('malformed database schema');
  if (isMalformed || /^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damaged(given);
  if (code === 'SQLITE_FULL' || (code.startsWith('SQLITE_IOERR') && hasNoRoom(dirname(file)))) return full(given, file);
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return locked(given);
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM)/.test(code)) return outOfFiles(dirname(file)) ?? unreadable(given, file);
  return error;
}

/** What the file system says of the files of a state, as {@link stateProblem} does; undefined where it is not the disk's fault. */
export function stateFileProblem(error: unknown, file: string): Problem | undefined {
  const { code = '' } = error as NodeJS.ErrnoException;
  const given = { seen: `${code} in ${file}`, cause: error };
  const limited = openFilesProblem(error);
  if (limited !== undefined) return limited;
  if (code === 'ENOSPC' || code === 'EDQUOT') return full(given, file);
  return code === 'EIO' ? unreadable(given, file) : undefined;
}

/** The database has nothing in it although payloads lie beside it: taken for a new state, they would be swept. */
export function emptied(folder: string): Problem {
  return new Problem({
    code: 'STATE_DAMAGED',
    family: 'config',
    message: 'The state database is empty, but payloads of earlier runs exist; nothing was changed',
    seen: folder,
    next: `${restore}. Without a backup: move ${folder} away to start over`,
  });
}

/** A full disk is told as a failing one where SQLite's shared memory cannot grow. */
function hasNoRoom(folder: string): boolean {
  try {
    return statfsSync(folder).bavail === 0;
  } catch {
    return false;
  }
}

/** The database, its journals and its folder. */
const filesOfState = 5;

/** SQLite says that it cannot open a file, and not that there are too many open ones. */
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
    message: 'The database of the state is damaged',
    next: `${restore}. "sluice doctor" checks the rest`,
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
    message: 'The database of the state is locked: another process has been writing for longer than 15 s',
    next: 'find the process that has the file open (fuser -v FILE) and stop it; Sluice itself locks the file only for moments',
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
