import { resolve } from 'node:path';
import { backup, constants, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { PreparedStatement, type SqliteValue } from './sqlite-statement.ts';

export { sqliteErrorName } from './sqlite-error.ts';
export type { PreparedStatement, SqliteValue } from './sqlite-statement.ts';

export interface SqliteOptions {
  /** The file must exist, and no statement writes to it or to any other file. */
  readonly readOnly?: boolean;
  /** A file that is missing is an error instead of a new database. */
  readonly mustExist?: boolean;
  /** How long a statement waits for another connection to release its lock; 5 s unless given. */
  readonly busyTimeoutMs?: number;
}

const { SQLITE_OK: allow, SQLITE_DENY: deny } = constants;

/** More pages than a database has, so that it is copied in one step. */
const allPages = 0x7fffffff;

/** Pages of a database that are kept in memory, in KiB. */
const cacheKb = 16_000;

/**
 * One connection to a SQLite database: the one place that opens them, for the state, the embedded service and the `db`
 * connector. It closes the silent gaps of `node:sqlite`; see {@link PreparedStatement} and `sqlite.test.ts`.
 */
export class SqliteDatabase {
  /** The absolute path, or `:memory:`. */
  readonly file: string;
  readonly #db: DatabaseSync;
  readonly #schema = { version: 0 };

  constructor(file: string, { readOnly = false, mustExist = readOnly, busyTimeoutMs = 5_000 }: SqliteOptions = {}) {
    this.file = file === ':memory:' ? file : resolve(file);
    this.#db = new DatabaseSync(placeOf(this.file, mustExist && !readOnly), { readOnly, timeout: busyTimeoutMs });
    try {
      // Reads the file: one that is damaged, or no database, fails here.
      this.#db.exec(`pragma cache_size = -${cacheKb}`);
    } catch (thrown) {
      this.#db.close();
      throw thrown;
    }
    // VACUUM INTO attaches its target, and writes it even if the database is read-only.
    if (readOnly) this.#db.setAuthorizer((action) => (action === constants.SQLITE_ATTACH ? deny : allow));
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** Runs all statements of a text. */
  exec(sql: string): void {
    this.#db.exec(sql);
    this.#schema.version += 1;
  }

  /** Prepares the one statement of a text. */
  prepare(sql: string): PreparedStatement {
    return new PreparedStatement(this.#db.prepare(sql), sql, this.#schema);
  }

  /** Runs a pragma and returns the first column of its first row, undefined if it has none. */
  pragma(text: string): SqliteValue | undefined {
    return this.prepare(`pragma ${text}`).value();
  }

  /** All or nothing. May be nested. */
  transaction<T>(work: () => T, mode: 'immediate' | 'exclusive' = 'immediate'): T {
    const isNested = this.#db.isTransaction;
    this.#db.exec(isNested ? 'savepoint nested' : `begin ${mode}`);
    try {
      const result = work();
      this.#db.exec(isNested ? 'release nested' : 'commit');
      return result;
    } catch (thrown) {
      this.#rollBack(isNested);
      throw thrown;
    }
  }

  /** SQLite rolls back by itself on some errors, such as a full disk. The error that led here must not be replaced. */
  #rollBack(isNested: boolean): void {
    if (!this.#db.isTransaction) return;
    try {
      this.#db.exec(isNested ? 'rollback to nested; release nested' : 'rollback');
    } catch {
      // The disk failed a second time; the next transaction says so.
    }
  }

  /** Copies the database as of one instant into a new file. */
  async backup(to: string): Promise<void> {
    await backup(this.#db, resolve(to), { rate: allPages });
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }
}

/** SQLite takes a text that begins with `file:` for a URI; an absolute path never does. */
function placeOf(file: string, mustExist: boolean): string | URL {
  if (!mustExist || file === ':memory:') return file;
  const url = pathToFileURL(file);
  url.searchParams.set('mode', 'rw');
  return url;
}
