import { statSync } from 'node:fs';
import { Problem, type ProblemOptions, seenIn, sqliteErrorName } from '#sdk';
import { FileOverwritten, fileChanged } from './file-overwritten.ts';
import { serverBusy } from './server-problems.ts';

type Rule = Pick<ProblemOptions, 'family' | 'code' | 'next'> & { readonly codes: RegExp };

const noDatabaseFile = {
  family: 'config',
  code: 'DB_NO_FILE',
  next: 'set the file option to a SQLite database',
} as const;

/** SQLite's primary and extended result codes. https://www.sqlite.org/rescode.html */
const rules: readonly Rule[] = [
  {
    codes: /^SQLITE_(CORRUPT|IOERR_CORRUPTFS)/,
    family: 'job',
    code: 'DB_FILE_DAMAGED',
    next: 'check the file with: sqlite3 FILE "pragma integrity_check"; if it is damaged, copy it again or restore a backup',
  },
  { codes: /^SQLITE_(BUSY|LOCKED|PROTOCOL|IOERR|NOMEM)/, ...serverBusy },
  {
    codes: /^SQLITE_(CANTOPEN|PERM)/,
    family: 'config',
    code: 'DB_NO_FILE',
    next: "fix the file option or the file's permissions",
  },
  {
    codes: /^SQLITE_NOTADB/,
    ...noDatabaseFile,
    next: `${noDatabaseFile.next}, or the driver option to duckdb if it is one`,
  },
  {
    codes: /^SQLITE_(READONLY|AUTH)/,
    family: 'job',
    code: 'DB_WRITE_REFUSED',
    next: 'use a query that only reads data, because sources are read-only',
  },
];
const otherwise = { family: 'job', code: 'DB_QUERY_FAILED', next: 'fix the query or its parameters' } as const;

/** Converts any error that occurs during the read of a file to a problem. */
export function sqliteProblem(thrown: unknown, path: string): Problem {
  if (thrown instanceof Problem) return thrown;
  if (thrown instanceof FileOverwritten) return fileChanged(thrown, path);
  const { message } = seenIn(thrown);
  const code = sqliteErrorName(thrown) ?? '';
  const isOfFolder = isFolder(path);
  const rule = isOfFolder ? noDatabaseFile : (rules.find(({ codes }) => codes.test(code)) ?? otherwise);
  return new Problem({
    family: rule.family,
    code: rule.code,
    message: `SQLite error in ${path}: ${isOfFolder ? 'it is a folder' : message}`,
    next: rule.next,
    ...(code === '' ? {} : { seen: code }),
    cause: thrown,
  });
}

/** If the path is a folder, SQLite reports a disk read error. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
