import { join } from 'node:path';
import { ensurePrivateFile } from '../../lib/private-file.ts';
import { Problem } from '../../lib/problem.ts';
import { type PreparedStatement, SqliteDatabase, type SqliteValue, sqliteErrorName } from '../../lib/sqlite.ts';
import { migrate } from './migrate.ts';

/** Maximum number of cached values per kind. A value takes a few hundred bytes. */
const maxRemembered = 10_000;

/**
 * The service's own database. It's synchronous, caches prepared statements, and is used by only one process at a time.
 * An ordinary commit survives a crash of the process; a commit by {@link durably} also survives a power loss.
 */
export class Database {
  readonly #db: SqliteDatabase;
  readonly #statements = new Map<string, PreparedStatement>();
  readonly #remembered = new Map<string, Map<string, unknown>>();

  private constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  /**
   * Opens a database in memory, or the database in the folder. Creates the folder's database if it doesn't exist, and
   * migrates it if it's old.
   */
  static async open(data: { readonly folder: string } | 'memory'): Promise<Database> {
    const file = data === 'memory' ? ':memory:' : privateFile(data.folder);
    let db: SqliteDatabase | undefined;
    try {
      db = new SqliteDatabase(file, { busyTimeoutMs: 500 });
      configure(db);
      await migrate(db);
      return new Database(db);
    } catch (thrown) {
      db?.close();
      throw openingProblem(thrown, data);
    }
  }

  get<T>(sql: string, ...values: readonly SqliteValue[]): T | undefined {
    return this.#noted(sql).get(...values);
  }

  all<T>(sql: string, ...values: readonly SqliteValue[]): T[] {
    return this.#noted(sql).all(...values);
  }

  /** Runs a statement that returns no rows. Returns the number of changed rows. */
  run(sql: string, ...values: readonly SqliteValue[]): number {
    return this.#noted(sql).run(...values).changes as number;
  }

  /**
   * Inserts a row. Field names are converted to column names: `createdAt` becomes `created_at`. `tail` is appended to
   * the statement, such as `on conflict …`.
   */
  insert(table: string, row: Readonly<Record<string, SqliteValue>>, tail = ''): void {
    const marks = Object.keys(row).fill('?').join(', ');
    const columns = Object.keys(row).map(columnOf).join(', ');
    this.run(`insert into ${table} (${columns}) values (${marks}) ${tail}`, ...Object.values(row));
  }

  /**
   * Changes fields of the row that has this ID. Fields are named as in {@link insert}; fields whose value is undefined
   * stay unchanged.
   */
  update(table: string, id: string, changes: Readonly<Record<string, SqliteValue | undefined>>): void {
    const given = Object.entries(changes).filter((one): one is [string, SqliteValue] => one[1] !== undefined);
    if (given.length === 0) return;
    const sets = given.map(([name]) => `${columnOf(name)} = ?`).join(', ');
    this.run(`update ${table} set ${sets} where id = ?`, ...given.map(([, value]) => value), id);
  }

  /** Like {@link run}, but doesn't invalidate cached values (see {@link remember}). */
  runAside(sql: string, ...values: readonly SqliteValue[]): number {
    return this.#prepare(sql).run(...values).changes as number;
  }

  /**
   * Returns the result of `read` from a cache, which is indexed by kind and key. Every write clears the whole cache, so
   * dependencies don't have to be tracked. Undefined results aren't cached.
   */
  remember<T>(kind: string, key: string, read: () => T): T {
    const known = this.#remembered.get(kind)?.get(key);
    if (known !== undefined) return known as T;
    const value = read();
    // Don't cache a value that was read within a transaction, because the transaction may still be rolled back.
    if (value !== undefined && !this.#db.inTransaction) this.#keep(kind, key, value);
    return value;
  }

  /** Runs `work` in a transaction. Transactions can be nested. */
  transaction<T>(work: () => T): T {
    return this.#db.transaction(work);
  }

  /**
   * Runs `work` in a transaction that is synced to disk before this method returns. Use it for data that is
   * acknowledged to a caller. Call counts don't need it: they're written constantly, and losing the last few in a power
   * loss does no harm.
   */
  durably<T>(work: () => T): T {
    if (this.#db.inTransaction) return this.transaction(work);
    this.#db.exec('pragma synchronous = FULL');
    try {
      return this.transaction(work);
    } finally {
      this.#db.exec('pragma synchronous = NORMAL');
    }
  }

  close(): void {
    this.#db.close();
  }

  #keep(kind: string, key: string, value: unknown): void {
    const known = this.#remembered.get(kind);
    if (known === undefined) this.#remembered.set(kind, new Map([[key, value]]));
    else {
      if (known.size >= maxRemembered) known.clear();
      known.set(key, value);
    }
  }

  /** Prepares a statement. Clears the cache if the statement is a write. */
  #noted(sql: string): PreparedStatement {
    if (!isRead(sql)) this.#remembered.clear();
    return this.#prepare(sql);
  }

  #prepare(sql: string): PreparedStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function columnOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns whether a statement only reads. The check is simple, but sufficient for our own statements. */
function isRead(sql: string): boolean {
  return /^\s*(?:select|with)\b/i.test(sql) && !/\breturning\b/i.test(sql);
}

/**
 * Creates the database file before SQLite does, because SQLite would let all users read the file, which contains hashes
 * of passwords and keys.
 */
function privateFile(folder: string): string {
  const path = join(folder, 'service.db');
  try {
    ensurePrivateFile(path);
  } catch (thrown) {
    throw unreadable(path, thrown);
  }
  return path;
}

function configure(db: SqliteDatabase): void {
  // Allow only one process per folder by holding the lock until the process ends. A second service on the same folder
  // would delete uploads that the first service is still receiving.
  db.pragma('locking_mode = EXCLUSIVE');
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.pragma('foreign_keys = ON');
}

function openingProblem(thrown: unknown, data: { readonly folder: string } | 'memory'): unknown {
  const name = sqliteErrorName(thrown);
  if (name === undefined || data === 'memory') return thrown;
  const file = join(data.folder, 'service.db');
  if (!name.startsWith('SQLITE_BUSY')) return unreadable(file, thrown);
  return new Problem({
    code: 'SERVICE_DATA_IN_USE',
    family: 'config',
    message: 'another service is using this data folder',
    where: { file },
    next: 'stop the other service, or set --data to another folder',
    cause: thrown,
  });
}

function unreadable(file: string, thrown: unknown): Problem {
  return new Problem({
    code: 'SERVICE_DATA_UNREADABLE',
    family: 'config',
    message: `the database of this data folder cannot be opened: ${(thrown as Error).message}`,
    where: { file },
    next: 'set --data to another folder',
    cause: thrown,
  });
}
