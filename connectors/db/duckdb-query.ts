import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Column, Value } from '#sdk';
import { doubleQuoted, stringLiteral } from './dialect.ts';
import type {
  DuckdbApi,
  DuckdbChunk,
  DuckdbConnection,
  DuckdbResult,
  DuckdbStatement,
  DuckdbType,
} from './duckdb-api.ts';
import { duckdbType, duckdbValues } from './duckdb-values.ts';
import { FileOverwritten } from './file-overwritten.ts';
import type { SettingValue, SqlParameter } from './options.ts';
import type { RunningQuery } from './query-reader.ts';

/** A query and what it may read. */
export interface DuckdbOrder {
  /** The absolute path of the file that the package `@duckdb/node-api` loads. */
  readonly library: string;
  /** The absolute path of the database; undefined if there are only Parquet files. */
  readonly path: string | undefined;
  /** The absolute paths of the Parquet files, by the name of their table. */
  readonly parquet: Readonly<Record<string, readonly string[]>>;
  readonly settings: Readonly<Record<string, SettingValue>>;
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
}

/** The next rows: the values of each column. */
export interface DuckdbRows {
  readonly length: number;
  readonly values: readonly (readonly Value[])[];
}

/** The type of a statement that only reads, from `duckdb_statement_type`. */
const selectStatement = 1;
/** Memory for large sorts and joins, unless the option `session` sets it. Query results are streamed. */
const defaultMemory = '1GB';

/** One query over a DuckDB database and Parquet files. Only the named files can be read. */
export class DuckdbQuery implements RunningQuery<Column, DuckdbRows> {
  readonly #connection: DuckdbConnection;
  readonly #statement: DuckdbStatement;
  readonly #result: DuckdbResult;
  readonly #types: readonly DuckdbType[];
  readonly #files: FileVersions;

  constructor(
    connection: DuckdbConnection,
    files: FileVersions,
    { statement, result }: { readonly statement: DuckdbStatement; readonly result: DuckdbResult },
  ) {
    this.#connection = connection;
    this.#files = files;
    this.#statement = statement;
    this.#result = result;
    this.#types = Array.from({ length: result.columnCount }, (_, c) => result.columnType(c));
  }

  columns(): readonly Column[] {
    return this.#types.map((type, c) => ({ name: this.#result.columnName(c), type: duckdbType(type) }));
  }

  async take(): Promise<DuckdbRows> {
    const chunk = await this.#result.fetchChunk();
    if (chunk !== null && chunk.rowCount > 0) return rowsOf(chunk, this.#types);
    await this.#confirmEnd();
    return { length: 0, values: [] };
  }

  /**
   * A result also ends without an error if one occurs while it's read. An error ends the transaction, though, so that
   * the next statement fails. The query runs again for the error's message.
   */
  async #confirmEnd(): Promise<void> {
    if (this.#files.haveChanged()) throw new FileOverwritten();
    try {
      await this.#connection.run('select 1');
    } catch (thrown) {
      await this.#connection.run('rollback');
      await this.#statement.run();
      throw thrown;
    }
  }
}

function rowsOf(chunk: DuckdbChunk, types: readonly DuckdbType[]): DuckdbRows {
  return { length: chunk.rowCount, values: types.map((type, c) => duckdbValues(type, chunk.getColumnValues(c))) };
}

/** Runs the query. Throws the library's errors, and a NotReading for a statement that does more than read. */
export async function openDuckdb(order: DuckdbOrder): Promise<DuckdbQuery> {
  const files = new FileVersions([order.path ?? [], ...Object.values(order.parquet)].flat());
  const connection = await connect(order);
  await connection.run('begin transaction read only');
  const statements = await connection.extractStatements(order.sql).catch(withoutStatement);
  if (statements.count !== 1) throw new NotReading(`${statements.count} statements`);
  const statement = await statements.prepare(0);
  if (statement.statementType !== selectStatement) throw new NotReading('a statement that is not a query');
  statement.bind(order.parameters.map(bound));
  return new DuckdbQuery(connection, files, { statement, result: await statement.stream() });
}

/** The library doesn't return an empty list for a text without a statement. */
function withoutStatement(thrown: Error): never {
  throw thrown.message === 'Error in native callback' ? new NotReading('no statement') : thrown;
}

/** The versions of the files at the start, because DuckDB opens each file when it needs it. */
class FileVersions {
  readonly #versions: ReadonlyMap<string, string>;

  constructor(paths: readonly string[]) {
    this.#versions = new Map(paths.map((path) => [path, versionOf(path)]));
  }

  haveChanged(): boolean {
    return [...this.#versions].some(([path, version]) => versionOf(path) !== version);
  }
}

function versionOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? 'none' : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
}

/** The statement isn't a single query. */
export class NotReading extends Error {
  override readonly name = 'NotReading';
}

/** Binds whole numbers as integers, because JavaScript's numbers are floats. */
function bound(value: SqlParameter): string | number | bigint | boolean | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}

async function connect({ library, path, parquet, settings }: DuckdbOrder): Promise<DuckdbConnection> {
  const { DuckDBInstance } = createRequire(library)(library) as DuckdbApi;
  const instance = await DuckDBInstance.create(path ?? ':memory:', {
    access_mode: path === undefined ? 'automatic' : 'read_only',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    memory_limit: defaultMemory,
    temp_directory: '',
  });
  const connection = await instance.connect();
  const allowed = Object.values(parquet).flat().map(stringLiteral);
  await connection.run(`set timezone = 'UTC'`);
  await connection.run(`set allowed_paths = [${allowed.join(', ')}]`);
  await connection.run('set enable_external_access = false');
  for (const [name, value] of Object.entries(settings))
    await connection.run(`set ${name} = ${stringLiteral(String(value))}`);
  await connection.run('set lock_configuration = true');
  for (const [name, files] of Object.entries(parquet)) await connection.run(tableOf(name, files));
  return connection;
}

/** A table that has the columns of all its files, each by its name. */
function tableOf(name: string, files: readonly string[]): string {
  const list = files.map(stringLiteral).join(', ');
  return `create temp view ${doubleQuoted(name)} as select * from read_parquet([${list}], union_by_name = true)`;
}
