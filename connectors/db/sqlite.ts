import { resolve } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { type Batch, type Column, cutText, type Extraction, Problem, type SqliteValue, type Value } from '#sdk';
import { refuseDuplicates } from './cells.ts';
import type { ConnectOptions, Driver } from './driver.ts';
import { defaultConnectSeconds } from './options.ts';
import { type ProcessFailure, QueryProcess } from './query-process.ts';
import { ReaderBatches } from './query-reader.ts';
import { changesTexts, SourceTexts } from './source-texts.ts';
import { sqliteCatalogue, sqliteDialect } from './sqlite-dialect.ts';
import {
  openSqlite,
  type SqliteColumn,
  SqliteFile,
  type SqliteOrder,
  type SqliteReader,
  type SqliteRows,
} from './sqlite-file.ts';
import { sqliteProblem } from './sqlite-problems.ts';
import { DecodingReader, SuspiciousReader } from './sqlite-texts.ts';
import { sqliteType, sqliteValue } from './sqlite-types.ts';

/** Driver for SQLite files, which are opened read-only. */
export const sqlite: Driver = {
  dialect: sqliteDialect,
  catalogue: sqliteCatalogue,
  async check(options) {
    const { path, timeoutMs } = placeOf(options);
    return guarded(path, async () => {
      const db = openSqlite({ path, timeoutMs });
      try {
        // The check reads the schema, because only that shows whether the file is a database.
        db.prepare('select count(*) from sqlite_schema').get();
        return `SQLite ${db.prepare('select sqlite_version()').value()} on ${path}`;
      } finally {
        db.close();
      }
    });
  },

  async extract(options, query) {
    const place = placeOf(options);
    const reader = readerFor(options);
    const { sql, parameters } = query;
    try {
      return await guarded(place.path, () => read(reader, { ...place, sql, parameters }, options));
    } catch (thrown) {
      await reader.close();
      throw options.signal.aborted ? options.signal.reason : thrown;
    }
  },
};

function placeOf({ source, folder, signal }: ConnectOptions): Pick<SqliteOrder, 'path' | 'timeoutMs'> {
  signal.throwIfAborted();
  return {
    path: resolve(folder, source.file ?? ''),
    timeoutMs: Math.ceil((source.connect_timeout_seconds ?? defaultConnectSeconds) * 1000),
  };
}

async function guarded<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw sqliteProblem(thrown, path);
  }
}

/**
 * If this process isn't allowed to start child processes, it was started just for this query. It therefore reads the
 * file itself.
 */
function readerFor({ source, signal }: ConnectOptions): SqliteReader {
  if (process.permission?.has('child') === false) return new SqliteHere(signal);
  const timeoutMs = (source.statement_timeout_seconds ?? 0) * 1000;
  return new QueryProcess({ entry: 'sqlite-child', title: 'SQLite', signal, timeoutMs, errorOf });
}

/** The error that `node:sqlite` threw in the child process. */
function errorOf({ message, errcode }: ProcessFailure): Error {
  const error = new Error(message);
  return errcode === undefined ? error : Object.assign(error, { code: 'ERR_SQLITE_ERROR', errcode });
}

class SqliteHere implements SqliteReader {
  readonly #signal: AbortSignal;
  #file: SqliteFile | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async open(order: SqliteOrder): Promise<readonly SqliteColumn[]> {
    this.#file = new SqliteFile(order);
    return this.#file.columns();
  }

  async rows(): Promise<SqliteRows> {
    await breathe();
    this.#signal.throwIfAborted();
    return this.#file!.take();
  }

  async close(): Promise<void> {
    this.#file?.close();
    this.#file = undefined;
  }
}

/**
 * SQLite replaces invalid bytes of texts without an error. Unless the options say that there may be such bytes, they're
 * looked for only if a text has the character that replaces them, because reading bytes is slower.
 */
async function read(plain: SqliteReader, order: SqliteOrder, options: ConnectOptions): Promise<Extraction> {
  const { source } = options;
  const hasRawTexts = changesTexts(source);
  const reader = hasRawTexts
    ? new DecodingReader(plain, new SourceTexts(source), options)
    : new SuspiciousReader(plain, () => refuseBadTexts(order, options));
  const declared = await reader.open({ ...order, hasRawTexts });
  if (declared.length === 0) throw noResult();
  refuseDuplicates(declared.map(({ name }) => ({ name, type: 'text' as const })));
  const first = await reader.rows();
  const columns = declared.map(
    ({ name, type }, c): Column => ({
      name,
      type: sqliteType(
        type,
        first.rows.map((row) => row[c]!),
      ),
    }),
  );
  const batches = new ReaderBatches(reader, {
    signal: options.signal,
    first,
    batchOf: ({ rows }, before) => batch(columns, rows, before),
    problemOf: (thrown) => sqliteProblem(thrown, order.path),
  });
  return { columns, batches };
}

/** Reads all rows again, and throws a Problem for the first text that isn't valid UTF-8. */
async function refuseBadTexts(order: SqliteOrder, options: ConnectOptions): Promise<void> {
  const reader = new DecodingReader(readerFor(options), new SourceTexts({ bad_text: 'refuse' }), options);
  try {
    await reader.open({ ...order, hasRawTexts: true });
    while ((await reader.rows()).rows.length > 0);
  } finally {
    await reader.close();
  }
}

/**
 * The statement isn't run, because a statement without a result can only write. If a statement has a result and also
 * writes, SQLite itself refuses it.
 */
function noResult(): Problem {
  return new Problem({
    code: 'DB_NO_RESULT',
    family: 'job',
    message: 'the statement returns no result set, not even an empty one',
    next: 'use a select or another statement that returns rows; sources are read-only',
  });
}

function batch(columns: readonly Column[], rows: readonly SqliteValue[][], before: number): Batch {
  const cells = columns.map((column, c) => ({
    kind: 'values' as const,
    values: rows.map((row, r) => valueAt(column, row[c]!, before + r + 1)),
  }));
  return { columns, cells, length: rows.length };
}

function valueAt({ name, type }: Column, stored: SqliteValue, row: number): Value {
  const value = sqliteValue(type, stored);
  if (value !== undefined) return value;
  throw new Problem({
    code: 'DB_VALUE_TYPE',
    family: 'row',
    message: `column ${JSON.stringify(name)} has type ${type}, but row ${row} has a value of a different type`,
    where: { row, column: name },
    seen: stored instanceof Uint8Array ? `${stored.length} bytes` : JSON.stringify(cutText(String(stored), 80)),
    next: `set its type in the query: cast(${name} as text) as ${name}`,
  });
}
