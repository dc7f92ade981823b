import { type PreparedStatement, replacementCharacter, SqliteDatabase, type SqliteValue } from '#sdk';
import { bare } from './dialect.ts';
import { FileOverwritten } from './file-overwritten.ts';
import type { SqlParameter } from './options.ts';
import type { QueryReader, RunningQuery } from './query-reader.ts';
import { SqliteSnapshot } from './sqlite-snapshot.ts';

/** A query and its file. */
export interface SqliteOrder {
  readonly path: string;
  /** How long to wait for a writer to release its lock, in milliseconds. */
  readonly timeoutMs: number;
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
  /** Whether each value is followed by 1 if it's a text's bytes; otherwise, by 0. */
  readonly hasRawTexts?: boolean;
}

/** A result column with its declared type. */
export interface SqliteColumn {
  readonly name: string;
  readonly type: string | null;
}

/** The next rows of a result. */
export interface SqliteRows {
  /** Empty at the end of the result. */
  readonly rows: SqliteValue[][];
  /**
   * Whether a text may have invalid bytes: it has the character by which SQLite's library replaces them. Only true for
   * the first such rows of a result.
   */
  readonly isSuspicious: boolean;
}

export type SqliteReader = QueryReader<SqliteOrder, SqliteColumn, SqliteRows>;

/** Rows per batch. */
const rowsAtOnce = 1000;

/**
 * One query over one SQLite file, which is opened read-only. SQLite is synchronous, so a process that has other work
 * must run this class in a child process. Throws the errors that `node:sqlite` throws.
 */
export class SqliteFile implements RunningQuery<SqliteColumn, SqliteRows> {
  readonly #file: OpenFile;
  readonly #order: SqliteOrder;
  readonly #statement: PreparedStatement;
  /** The statement that returns the rows. */
  readonly #read: PreparedStatement;
  #rows: IterableIterator<SqliteValue[]> | undefined;
  /** Bytes aren't replaced, and after the first replacement, the caller knows. */
  #looksForReplacements: boolean;

  constructor(order: SqliteOrder) {
    this.#order = order;
    this.#looksForReplacements = order.hasRawTexts !== true;
    this.#file = openSnapshot(order);
    try {
      this.#statement = this.#file.db.prepare(order.sql);
      this.#read = order.hasRawTexts === true ? this.#rawTexts() : this.#statement;
    } catch (thrown) {
      this.close();
      throw thrown;
    }
  }

  /** Returns the result's columns without running the statement, or an empty list if the statement has no result. */
  columns(): readonly SqliteColumn[] {
    return this.#statement.columns();
  }

  /** Returns about a thousand rows. If the read reaches the end, all rows are from one version of the file. */
  take(): SqliteRows {
    const rows = this.#taken();
    // Looks here and not where the rows are used, because the process that reads the file has less to do.
    const isSuspicious = this.#looksForReplacements && rows.some((row) => row.some(hasReplacement));
    if (isSuspicious) this.#looksForReplacements = false;
    return { rows, isSuspicious };
  }

  #taken(): SqliteValue[][] {
    const taken: SqliteValue[][] = [];
    try {
      this.#rows ??= this.#read.iterateExact(...this.#order.parameters.map(bound));
      while (taken.length < rowsAtOnce) {
        const { done, value } = this.#rows.next();
        if (done) break;
        taken.push(value);
      }
    } catch (thrown) {
      throw this.#file.snapshot.isBroken ? new FileOverwritten() : thrown;
    }
    if (taken.length === 0 && this.#file.snapshot.isBroken) throw new FileOverwritten();
    return taken;
  }

  /** A statement with the same rows. SQLite stores UTF-16 only in files in which all texts are UTF-16. */
  #rawTexts(): PreparedStatement {
    const { db } = this.#file;
    const isUtf8 = db.pragma('encoding') === 'UTF-8';
    const names = this.columns().map((_, c) => `c${c}`);
    if (names.length === 0) return this.#statement;
    const pairs = names.map((name) => {
      const isText = `typeof(${name}) = 'text'`;
      return isUtf8 ? `iif(${isText}, cast(${name} as blob), ${name}), ${isText}` : `${name}, 0`;
    });
    // The names are the result's positions, because a result may have two columns of the same name.
    return db.prepare(
      `with r(${names.join(', ')}) as (\n${bare(this.#order.sql)}\n) select ${pairs.join(', ')} from r`,
    );
  }

  close(): void {
    this.#rows?.return?.();
    this.#file.db.close();
    this.#file.lock.close();
    this.#file.snapshot.close();
  }
}

const hasReplacement = (value: SqliteValue) => typeof value === 'string' && value.includes(replacementCharacter);

/** How to open a file. `immutable`: without locks, because another connection holds the lock. */
type OpenOrder = Pick<SqliteOrder, 'path' | 'timeoutMs'> & { readonly immutable?: boolean };

/** An open file whose content doesn't change until it's closed. */
interface OpenFile {
  /** Reads one version of the file. */
  readonly db: SqliteDatabase;
  /** Holds SQLite's lock on the file. */
  readonly lock: SqliteDatabase;
  readonly snapshot: SqliteSnapshot;
}

/**
 * Opens the file and starts a read transaction. All data read from now on is from one snapshot.
 *
 * Before the snapshot is recorded, another connection takes SQLite's lock. Otherwise, the attempt would fail again and
 * again if a program commits continuously, because each commit changes the file.
 */
function openSnapshot(order: SqliteOrder): OpenFile {
  const lock = openSqlite(order);
  try {
    startReading(lock);
    // A write-ahead log has the newest data, and an immutable connection ignores it.
    const immutable = lock.pragma('journal_mode') !== 'wal';
    return { lock, ...openUnchanged({ ...order, immutable }) };
  } catch (thrown) {
    lock.close();
    throw thrown;
  }
}

/** Tries until no other program has written to the file during an attempt. */
function openUnchanged(order: OpenOrder): Omit<OpenFile, 'lock'> {
  const end = Date.now() + order.timeoutMs;
  for (;;) {
    const snapshot = new SqliteSnapshot(order.path);
    let db: SqliteDatabase | undefined;
    try {
      db = openSqlite(order);
      startReading(db);
      if (snapshot.begin()) return { db, snapshot };
      if (Date.now() >= end) throw new FileOverwritten();
    } catch (thrown) {
      db?.close();
      snapshot.close();
      throw thrown;
    }
    db.close();
    snapshot.close();
  }
}

/** SQLite starts a transaction, and takes its lock, at the first read. */
function startReading(db: SqliteDatabase): void {
  db.exec('begin');
  db.prepare('select count(*) from sqlite_schema').get();
}

/** Opens an existing file read-only. */
export function openSqlite({ path, timeoutMs, immutable }: OpenOrder): SqliteDatabase {
  return new SqliteDatabase(path, { readOnly: true, busyTimeoutMs: timeoutMs, immutable });
}

/** Binds whole numbers as integers, because all JavaScript numbers are floats. Binds booleans as SQLite stores them. */
function bound(value: SqlParameter): SqliteValue {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}
