import { resolve } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { type Batch, type Column, type Extraction, Problem, type Value } from '#sdk';
import { refuseDuplicates } from './cells.ts';
import { sqliteDialect } from './dialects.ts';
import type { Door, Driver } from './driver.ts';
import type { Parameter, QueryValues } from './options.ts';
import { sqliteProblem } from './sqlite-problems.ts';
import { type SqliteValue, sqliteType, sqliteValue } from './sqlite-types.ts';

/** SQLite works inside our own process: after so many rows everybody else gets a turn. */
const rowsPerTurn = 1000;

/** SQLite files, opened for reading alone. */
export const sqlite: Driver = {
  dialect: sqliteDialect,
  async check(door) {
    const { db, path } = open(door);
    try {
      // Reading the schema is what tells a database from any other file.
      db.prepare('select count(*) from sqlite_schema').get();
      return `SQLite ${db.prepare('select sqlite_version()').pluck().get()} on ${path}`;
    } catch (thrown) {
      throw sqliteProblem(thrown, path);
    } finally {
      db.close();
    }
  },

  async extract(door, query) {
    const { db, path } = open(door);
    try {
      return read({ db, path, door, query });
    } catch (thrown) {
      db.close();
      throw sqliteProblem(thrown, path);
    }
  },
};

interface Reading {
  readonly db: Database.Database;
  readonly path: string;
  readonly door: Door;
  readonly query: QueryValues;
}

function open({ source, folder, signal }: Door): { db: Database.Database; path: string } {
  signal.throwIfAborted();
  const path = resolve(folder, source.file ?? '');
  try {
    const timeout = Math.ceil(source.connect_timeout_seconds * 1000);
    return { db: new Database(path, { readonly: true, fileMustExist: true, timeout }), path };
  } catch (thrown) {
    throw sqliteProblem(thrown, path);
  }
}

function read({ db, path, door, query }: Reading): Extraction {
  const statement = db.prepare<SqliteValue[], SqliteValue[]>(query.sql);
  refuseWrites(statement);
  const declarations = statement.raw(true).safeIntegers(true).columns();
  const names = declarations.map(({ name }) => ({ name, type: 'text' as const }));
  refuseDuplicates(names);
  const rows = statement.iterate(...query.parameters.map(bound));
  const first = take(rows);
  const columns = declarations.map(
    ({ name, type }, c): Column => ({
      name,
      type: sqliteType(
        type,
        first.map((row) => row[c]!),
      ),
    }),
  );
  return { columns, batches: batches({ db, path, signal: door.signal, rows, first, columns }) };
}

/** SQLite refuses to write to a file opened for reading; other files and temporary tables are no better. */
function refuseWrites({ reader, readonly }: Database.Statement<SqliteValue[], SqliteValue[]>): void {
  if (!readonly) {
    throw new Problem({
      code: 'DB_WRITE_REFUSED',
      family: 'job',
      message: 'the statement would change the database',
      next: 'a source is only read: write a query that changes nothing',
    });
  }
  if (!reader) {
    throw new Problem({
      code: 'DB_NO_RESULT',
      family: 'job',
      message: 'the statement returns no rows, not even zero of them',
      next: 'write a select, or another statement that has a result',
    });
  }
}

/** Whole numbers are bound as integers, which JavaScript does not tell from floats; booleans as SQLite keeps them. */
function bound(value: Parameter): SqliteValue {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}

function take(rows: Iterator<SqliteValue[]>): SqliteValue[][] {
  const taken: SqliteValue[][] = [];
  while (taken.length < rowsPerTurn) {
    const { done, value } = rows.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

interface Result {
  readonly db: Database.Database;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly rows: IterableIterator<SqliteValue[]>;
  readonly first: SqliteValue[][];
  readonly columns: readonly Column[];
}

async function* batches({ db, path, signal, rows, first, columns }: Result): AsyncGenerator<Batch, void, void> {
  try {
    let before = 0;
    for (let taken = first; taken.length > 0; taken = take(rows)) {
      yield batch(columns, taken, before);
      before += taken.length;
      await breathe();
      signal.throwIfAborted();
    }
  } catch (thrown) {
    throw signal.aborted ? signal.reason : sqliteProblem(thrown, path);
  } finally {
    rows.return?.();
    db.close();
  }
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
    message: `column ${JSON.stringify(name)} is ${type}, but row ${row} holds another kind of value`,
    where: { row, column: name },
    seen: stored instanceof Uint8Array ? `${stored.length} bytes` : JSON.stringify(String(stored).slice(0, 80)),
    next: `say in the query what it shall be: cast(${name} as text) as ${name}`,
  });
}
