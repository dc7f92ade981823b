import { resolve } from 'node:path';
import { backup, constants, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { PreparedStatement, type SqliteValue } from './sqlite-statement.ts';

export { sqliteErrorName } from './sqlite-error.ts';
export type { PreparedStatement, SqliteValue } from './sqlite-statement.ts';

export interface SqliteOptions {
  /** The file must exist, and no statement may write to it or to any other file. */
  readonly readOnly?: boolean;
  /** Whether to fail if the file is missing, instead of creating it. */
  readonly mustExist?: boolean;
  /** How long a statement waits for another connection's lock; default: 5 s. */
  readonly busyTimeoutMs?: number;
  /**
   * Read without locks and without a write-ahead log. The caller guarantees that no program writes to the file.
   * https://www.sqlite.org/uri.html#uriimmutable
   */
  readonly immutable?: boolean;
}

const { SQLITE_OK: allow, SQLITE_DENY: deny } = constants;

/** More pages than any database has, so that a backup copies all of them in one step. */
const allPages = 0x7fffffff;

/** Page cache size in KiB. */
const cacheKb = 16_000;

/**
 * One connection to an SQLite database. All databases are opened through this class: the state, the embedded service's,
 * and those of the `db` connector. It catches mistakes that `node:sqlite` silently accepts; see
 * {@link PreparedStatement} and `sqlite.test.ts`.
 */
export class SqliteDatabase {
  /** The absolute path, or `:memory:`. */
  readonly file: string;
  readonly #db: DatabaseSync;
  readonly #schema = { version: 0 };

  constructor(file: string, options: SqliteOptions = {}) {
    const { readOnly = false, busyTimeoutMs = 5_000 } = options;
    this.file = file === ':memory:' ? file : resolve(file);
    this.#db = new DatabaseSync(placeOf(this.file, options), { readOnly, timeout: busyTimeoutMs });
    try {
      // This pragma reads the file, so a damaged file or another program's file causes an error here.
      this.#db.exec(`pragma cache_size = -${cacheKb}`);
    } catch (thrown) {
      this.#db.close();
      throw thrown;
    }
    // Don't allow ATTACH: VACUUM INTO attaches its target, and writes to it even if the database is read-only.
    if (readOnly) this.#db.setAuthorizer((action) => (action === constants.SQLITE_ATTACH ? deny : allow));
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** Runs all statements in the text. */
  exec(sql: string): void {
    this.#db.exec(sql);
    this.#schema.version += 1;
  }

  /** Prepares the text's single statement. */
  prepare(sql: string): PreparedStatement {
    return new PreparedStatement(this.#db.prepare(sql), sql, this.#schema);
  }

  /** Runs a pragma and returns the first column of its first row; undefined if there is none. */
  pragma(text: string): SqliteValue | undefined {
    return this.prepare(`pragma ${text}`).value();
  }

  /** Runs `work` in a transaction. Transactions can be nested. */
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

  /**
   * Rolls back, unless SQLite has already done so, as it does after some errors, such as a full disk. Never throws,
   * because that would replace the original error.
   */
  #rollBack(isNested: boolean): void {
    if (!this.#db.isTransaction) return;
    try {
      this.#db.exec(isNested ? 'rollback to nested; release nested' : 'rollback');
    } catch {
      // The disk failed again, which the next transaction will report.
    }
  }

  /** Copies a consistent snapshot of the database to a new file. */
  async backup(to: string): Promise<void> {
    await backup(this.#db, resolve(to), { rate: allPages });
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }
}

/** SQLite treats a name that starts with `file:` as a URI; an absolute path never starts like that. */
function placeOf(file: string, { readOnly = false, mustExist = readOnly, immutable = false }: SqliteOptions) {
  const parameters = { ...(mustExist && !readOnly && { mode: 'rw' }), ...(immutable && { immutable: '1' }) };
  if (file === ':memory:' || Object.keys(parameters).length === 0) return file;
  const url = pathToFileURL(file);
  url.search = new URLSearchParams(parameters).toString();
  return url;
}
