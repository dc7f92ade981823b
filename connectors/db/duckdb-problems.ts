import { Problem, type ProblemOptions, seenIn } from '#sdk';
import { NotReading } from './duckdb-query.ts';
import { FileOverwritten, fileChanged } from './file-overwritten.ts';
import { serverBusy } from './server-problems.ts';

type Rule = Pick<ProblemOptions, 'family' | 'code' | 'next'> & { readonly message: RegExp };

/** By the beginning of DuckDB's messages, which name the kind of error. */
const rules: readonly Rule[] = [
  { message: /^IO Error: Could not set lock/, ...serverBusy },
  {
    message: /^(IO|Serialization) Error: .*(version number|storage version|newer version)/is,
    family: 'config',
    code: 'DB_NO_FILE',
    next: 'update the package that reads the file: npm install @duckdb/node-api@latest',
  },
  {
    // DuckDB opens other kinds of files as databases too: Parquet in memory, SQLite with an extension.
    message:
      /not a valid DuckDB database file|Cannot launch in-memory database|Extension "[^"]+" (not found|is an existing)/,
    family: 'config',
    code: 'DB_NO_FILE',
    next: 'set the file option to a DuckDB database; set Parquet files with the parquet option',
  },
  {
    message: /magic bytes|TProtocolException|Parquet file|Snappy|ZSTD|checksum|corrupt/i,
    family: 'job',
    code: 'DB_FILE_DAMAGED',
    next: 'copy the file again; it is damaged, incomplete or not of this kind',
  },
  {
    message: /^IO Error/,
    family: 'config',
    code: 'DB_NO_FILE',
    next: "fix the file or parquet option, or the file's permissions",
  },
  {
    message: /^Out of Memory Error/,
    family: 'job',
    code: 'DB_QUERY_FAILED',
    next: 'raise the limit with session: {memory_limit: 4GB}, or make the query smaller',
  },
  {
    message: /^Permission Error/,
    family: 'job',
    code: 'DB_QUERY_FAILED',
    next: "name the file in the source's parquet option, and use the table's name in the query",
  },
];
const otherwise = { family: 'job', code: 'DB_QUERY_FAILED', next: 'fix the query or its parameters' } as const;

/** Converts any error that occurs while a query is read to a problem. `place` names the files. */
export function duckdbProblem(thrown: unknown, place: string): Problem {
  if (thrown instanceof Problem) return thrown;
  if (thrown instanceof NotReading) return notReading(thrown.message);
  if (thrown instanceof FileOverwritten) return fileChanged(thrown, place);
  const { message } = seenIn(thrown);
  const rule = rules.find((one) => one.message.test(message)) ?? otherwise;
  return new Problem({
    family: rule.family,
    code: rule.code,
    message: `DuckDB error in ${place}: ${message}`,
    next: rule.next,
    cause: thrown,
  });
}

function notReading(seen: string): Problem {
  return new Problem({
    code: 'DB_WRITE_REFUSED',
    family: 'job',
    message: 'the statement is not one query',
    seen,
    allowed: 'one statement that begins with select, from, with, values, describe, show or summarize',
    next: 'use a query that only reads data, because sources are read-only',
  });
}
