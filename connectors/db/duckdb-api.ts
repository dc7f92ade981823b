/**
 * The part of the package `@duckdb/node-api` that Sluice uses. The package isn't installed with Sluice, because it takes
 * 70 MB.
 */
export interface DuckdbApi {
  readonly DuckDBInstance: {
    create(path: string, settings: Readonly<Record<string, string>>): Promise<DuckdbInstance>;
  };
}

interface DuckdbInstance {
  connect(): Promise<DuckdbConnection>;
}

export interface DuckdbConnection {
  run(sql: string): Promise<unknown>;
  extractStatements(sql: string): Promise<{
    readonly count: number;
    prepare(index: number): Promise<DuckdbStatement>;
  }>;
}

export interface DuckdbStatement {
  readonly statementType: number;
  bind(values: readonly (string | number | bigint | boolean | null)[]): void;
  stream(): Promise<DuckdbResult>;
  run(): Promise<unknown>;
}

/**
 * A result that is computed while it's read. Ends early, without an error, if an error occurs after the first rows: the
 * package doesn't expose the library's `duckdb_result_error`.
 */
export interface DuckdbResult {
  readonly columnCount: number;
  columnName(index: number): string;
  columnType(index: number): DuckdbType;
  fetchChunk(): Promise<DuckdbChunk | null>;
}

export interface DuckdbChunk {
  readonly rowCount: number;
  getColumnValues(index: number): unknown[];
}

/** A type. The members besides `typeId` exist for the types that need them. */
export interface DuckdbType {
  readonly typeId: number;
  /** The name of a type that is stored as another one: `JSON`. */
  readonly alias?: string;
  /** The type of a list's or array's elements, and of a map's values. */
  readonly valueType?: DuckdbType;
  readonly keyType?: DuckdbType;
  readonly entryNames?: readonly string[];
  readonly entryTypes?: readonly DuckdbType[];
  readonly memberTags?: readonly string[];
  readonly memberTypes?: readonly DuckdbType[];
  toString(): string;
}
