import type { StatementResultingChanges, StatementSync } from 'node:sqlite';

/** A database value. Integers are read as numbers unless a statement is set to use BigInt. */
export type SqliteValue = bigint | number | string | Uint8Array | null;

/** Incremented with each change that may alter a prepared `select *` statement's columns. */
export interface SchemaVersion {
  version: number;
}

const changesSchema = /^\s*(?:create|alter|drop)\b/i;

/** Text that may follow a statement without counting as a second one. */
const nothing = /^(?:[\s;]|--.*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$))*$/;

/**
 * Matches literals, names and comments first, because a `?` in them isn't a parameter, and then numbered or named
 * parameters.
 */
const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--.*|\/\*[\s\S]*?(?:\*\/|$)|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|\?(\d*)|([:@#$][\w$\u0080-\uffff]+)/g;

/**
 * A statement of a {@link SqliteDatabase}, checked for mistakes that `node:sqlite` silently accepts: it skips a second
 * statement in the text, and binds a missing parameter as NULL.
 */
export class PreparedStatement {
  readonly #raw: StatementSync;
  readonly #schema: SchemaVersion;
  readonly #parameters: number;
  readonly #changesSchema: boolean;
  #preparedAt: number;
  #names: readonly string[];

  constructor(raw: StatementSync, sql: string, schema: SchemaVersion) {
    refuseSecondStatement(raw, sql);
    this.#raw = raw;
    this.#schema = schema;
    this.#parameters = countParameters(sql);
    this.#changesSchema = changesSchema.test(sql);
    this.#preparedAt = schema.version;
    this.#names = this.columns().map(({ name }) => name);
    // Reads rows as arrays and converts them here, because node:sqlite returns objects in dictionary mode, which takes
    // twice as long.
    raw.setReturnArrays(true);
  }

  /** Whether the statement returns columns, even if it returns no rows. */
  get isReader(): boolean {
    return this.#names.length > 0;
  }

  /** The result's columns with their declared types. */
  columns(): { readonly name: string; readonly type: string | null }[] {
    return this.#raw.columns().map(({ name, type }) => ({ name, type }));
  }

  /** The first row; undefined if there is none. */
  get<T>(...values: readonly SqliteValue[]): T | undefined {
    const row = this.#raw.get(...this.#checked(values)) as unknown as SqliteValue[] | undefined;
    return row === undefined ? undefined : (this.#asObject(row) as T);
  }

  all<T>(...values: readonly SqliteValue[]): T[] {
    const rows = this.#raw.all(...this.#checked(values)) as unknown as SqliteValue[][];
    return rows.map((row) => this.#asObject(row) as T);
  }

  /** Like {@link all}, but reads one row at a time. */
  *iterate<T>(...values: readonly SqliteValue[]): Generator<T> {
    const rows = this.#raw.iterate(...this.#checked(values)) as unknown as IterableIterator<SqliteValue[]>;
    for (const row of rows) yield this.#asObject(row) as T;
  }

  /** The first column of the first row; undefined if there is no row. */
  value(...values: readonly SqliteValue[]): SqliteValue | undefined {
    return (this.#raw.get(...this.#checked(values)) as unknown as SqliteValue[] | undefined)?.[0];
  }

  run(...values: readonly SqliteValue[]): StatementResultingChanges {
    const result = this.#raw.run(...this.#checked(values));
    if (this.#changesSchema) this.#schema.version += 1;
    return result;
  }

  /** The rows as arrays, one at a time, with integers as BigInt. */
  iterateExact(...values: readonly SqliteValue[]): IterableIterator<SqliteValue[]> {
    this.#raw.setReadBigInts(true);
    return this.#raw.iterate(...this.#checked(values)) as unknown as IterableIterator<SqliteValue[]>;
  }

  #checked(values: readonly SqliteValue[]): SqliteValue[] {
    if (values.length !== this.#parameters)
      throw new RangeError(`The statement has ${this.#parameters} parameters, but ${values.length} values were passed`);
    for (const value of values) if (value === undefined) throw new TypeError('undefined is not a SQLite value');
    return values as SqliteValue[];
  }

  #asObject(row: readonly SqliteValue[]): Record<string, SqliteValue> {
    if (this.#preparedAt !== this.#schema.version || row.length !== this.#names.length) {
      this.#names = this.columns().map(({ name }) => name);
      this.#preparedAt = this.#schema.version;
    }
    const names = this.#names;
    const object: Record<string, SqliteValue> = {};
    for (let c = 0; c < names.length; c++) object[names[c]!] = row[c]!;
    return object;
  }
}

/** Throws if the text contains a second statement. `sourceSQL` ends where SQLite stopped parsing. */
function refuseSecondStatement(raw: StatementSync, sql: string): void {
  if (nothing.test(sql.slice(raw.sourceSQL.length))) return;
  throw new RangeError('The SQL contains more than one statement');
}

/** The number of parameters, counted as SQLite numbers them. Rejects named parameters, because we use none. */
function countParameters(sql: string): number {
  let highest = 0;
  for (const [token, number, name] of sql.matchAll(tokens)) {
    if (name !== undefined) throw new RangeError(`Named parameters are not supported: ${token}; use ?`);
    if (number !== undefined) highest = number === '' ? highest + 1 : Math.max(highest, Number(number));
  }
  return highest;
}
