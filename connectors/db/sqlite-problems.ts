import { Problem, type ProblemInit, seenIn, sqliteErrorName } from '#sdk';
import { FileOverwritten } from './sqlite-snapshot.ts';

type Rule = Pick<ProblemInit, 'family' | 'code' | 'next'> & { readonly codes: RegExp };

/** Primary and extended result codes. https://www.sqlite.org/rescode.html */
const rules: readonly Rule[] = [
  {
    codes: /^SQLITE_(BUSY|LOCKED|PROTOCOL|IOERR|NOMEM)/,
    family: 'try_later',
    code: 'DB_SERVER_BUSY',
    next: 'the run is tried again',
  },
  {
    codes: /^SQLITE_(CANTOPEN|PERM)/,
    family: 'config',
    code: 'DB_NO_FILE',
    next: 'mend the option file or the rights of the file',
  },
  { codes: /^SQLITE_NOTADB/, family: 'config', code: 'DB_NO_FILE', next: 'name a SQLite database in the option file' },
  {
    codes: /^SQLITE_(READONLY|AUTH)/,
    family: 'job',
    code: 'DB_WRITE_REFUSED',
    next: 'a source is only read: write a query that changes nothing',
  },
];
const otherwise = { family: 'job', code: 'DB_QUERY_FAILED', next: 'mend the query' } as const;

/** Whatever the reading of a file threw, as a problem. */
export function sqliteProblem(thrown: unknown, path: string): Problem {
  if (thrown instanceof Problem) return thrown;
  if (thrown instanceof FileOverwritten) return fileChanged(thrown, path);
  const { message } = seenIn(thrown);
  const code = sqliteErrorName(thrown) ?? '';
  const rule = rules.find(({ codes }) => codes.test(code)) ?? otherwise;
  return new Problem({
    family: rule.family,
    code: rule.code,
    message: `SQLite on ${path}: ${message}`,
    ...(rule.next === undefined ? {} : { next: rule.next }),
    ...(code === '' ? {} : { seen: code }),
    cause: thrown,
  });
}

function fileChanged(cause: FileOverwritten, path: string): Problem {
  return new Problem({
    code: 'DB_FILE_CHANGED',
    family: 'try_later',
    message: `SQLite on ${path}: ${cause.message}`,
    next: 'write the new file under another name in that folder and rename it over this one: mv new.db shop.db',
    cause,
  });
}
