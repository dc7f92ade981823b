import Database from 'better-sqlite3';
import type { Parameter } from './options.ts';
import type { SqliteValue } from './sqlite-types.ts';

/** What is to be read from which file. */
export interface SqliteOrder {
  readonly path: string;
  /** How long to wait for a writer to let go of the file, milliseconds. */
  readonly timeoutMs: number;
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** What is known of a statement before it has run. */
export interface SqliteStatement {
  /** The columns of its result, with the types that their table declares. Empty where it has no result. */
  readonly columns: readonly { readonly name: string; readonly type: string | null }[];
  /** Whether it leaves the database as it is. */
  readonly isReadonly: boolean;
  /** Whether it has a result, were it of no rows. */
  readonly isReader: boolean;
}

/** A query over a SQLite file, wherever it runs. */
export interface SqliteReader {
  /** Opens the file and prepares the statement. */
  open(order: SqliteOrder): Promise<SqliteStatement>;
  /** The next rows, none at the end. */
  rows(): Promise<SqliteValue[][]>;
  close(): Promise<void>;
}

/** How many rows are handed over at a time. */
const rowsAtOnce = 1000;

/**
 * One query over one SQLite file, opened for reading alone. SQLite works while the caller waits, however long that takes,
 * so whoever has something else to do keeps this in another process. Throws what better-sqlite3 throws.
 */
export class SqliteFile {
  readonly #db: Database.Database;
  readonly #order: SqliteOrder;
  readonly #statement: Database.Statement<SqliteValue[], SqliteValue[]>;
  #rows: IterableIterator<SqliteValue[]> | undefined;

  constructor(order: SqliteOrder) {
    this.#order = order;
    this.#db = openSqlite(order);
    try {
      this.#statement = this.#db.prepare(order.sql);
    } catch (thrown) {
      this.#db.close();
      throw thrown;
    }
  }

  /** Says what the statement is, without running it. */
  describe(): SqliteStatement {
    const { readonly: isReadonly, reader: isReader } = this.#statement;
    const columns = isReader ? this.#statement.columns().map(({ name, type }) => ({ name, type })) : [];
    return { columns, isReadonly, isReader };
  }

  /** The next rows, about a thousand; none at the end. */
  take(): SqliteValue[][] {
    this.#rows ??= this.#statement
      .raw(true)
      .safeIntegers(true)
      .iterate(...this.#order.parameters.map(bound));
    const taken: SqliteValue[][] = [];
    while (taken.length < rowsAtOnce) {
      const { done, value } = this.#rows.next();
      if (done) break;
      taken.push(value);
    }
    return taken;
  }

  close(): void {
    this.#rows?.return?.();
    this.#db.close();
  }
}

/** Opens a file that must be there, for reading alone. */
export function openSqlite({ path, timeoutMs }: Pick<SqliteOrder, 'path' | 'timeoutMs'>): Database.Database {
  return new Database(path, { readonly: true, fileMustExist: true, timeout: timeoutMs });
}

/** Whole numbers are bound as integers, which JavaScript does not tell from floats; booleans as SQLite keeps them. */
function bound(value: Parameter): SqliteValue {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}
