import { glob, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { batchText, type Column, type Extraction, Problem, withDefaults } from '#sdk';
import { refuseDuplicates } from './cells.ts';
import type { ConnectOptions, Driver } from './driver.ts';
import { duckdbCatalogue, duckdbDialect } from './duckdb-dialect.ts';
import { duckdbProblem } from './duckdb-problems.ts';
import { type DuckdbOrder, type DuckdbRows, NotReading } from './duckdb-query.ts';
import { requireOptional } from './optional-package.ts';
import { query } from './options.ts';
import { type ProcessFailure, QueryProcess } from './query-process.ts';
import { ReaderBatches } from './query-reader.ts';

/** Driver for DuckDB databases and Parquet files, which are opened read-only. */
export const duckdb: Driver = {
  dialect: duckdbDialect,
  catalogue: duckdbCatalogue,
  async check(options) {
    const { batches } = await duckdb.extract(options, { ...withDefaults(query, {}), sql: 'select version()' });
    let version: string | null | undefined;
    for await (const batch of batches) version = batchText(batch)[0]?.[0];
    return `DuckDB ${version} on ${placeOf(options)}`;
  },

  async extract(options, { sql, parameters }) {
    const { source, signal } = options;
    const order = { ...(await filesOf(options)), sql, parameters, settings: source.session };
    const timeoutMs = (source.statement_timeout_seconds ?? 0) * 1000;
    const reader = new QueryProcess<DuckdbOrder, Column, DuckdbRows>({
      entry: 'duckdb-child',
      title: 'DuckDB',
      signal,
      timeoutMs,
      errorOf,
    });
    try {
      return await read(reader, order, options);
    } catch (thrown) {
      await reader.close();
      throw signal.aborted ? signal.reason : duckdbProblem(thrown, placeOf(options));
    }
  },
};

/** The error that was thrown in the child process. */
function errorOf({ name, message }: ProcessFailure): Error {
  return name === 'NotReading' ? new NotReading(message) : new Error(message);
}

async function read(
  reader: QueryProcess<DuckdbOrder, Column, DuckdbRows>,
  order: DuckdbOrder,
  options: ConnectOptions,
): Promise<Extraction> {
  const columns = await reader.open(order);
  refuseDuplicates(columns);
  const batches = new ReaderBatches(reader, {
    signal: options.signal,
    first: await reader.rows(),
    batchOf: ({ length, values }) => ({
      columns,
      cells: values.map((one) => ({ kind: 'values' as const, values: one })),
      length,
    }),
    problemOf: (thrown) => duckdbProblem(thrown, placeOf(options)),
  });
  return { columns, batches };
}

/** The library, the database and the Parquet files. */
async function filesOf({ source, folder }: ConnectOptions): Promise<Pick<DuckdbOrder, 'library' | 'path' | 'parquet'>> {
  const library = requireOptional('@duckdb/node-api', { title: 'DuckDB', folder }).resolve('@duckdb/node-api');
  const tables = await Promise.all(
    Object.entries(source.parquet).map(async ([name, paths]) => [name, await filesAt([paths].flat(), folder)] as const),
  );
  return {
    library,
    path: source.file === undefined ? undefined : resolve(folder, source.file),
    parquet: Object.fromEntries(tables),
  };
}

async function filesAt(paths: readonly string[], folder: string): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    const absolute = resolve(folder, path);
    const files = (await isFile(absolute)) ? [absolute] : await matches(path, folder);
    if (files.length === 0) throw noFiles(absolute);
    for (const file of files) found.add(file);
  }
  return [...found];
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

async function matches(pattern: string, folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const file of glob(pattern, { cwd: folder })) files.push(resolve(folder, file));
  const isKept = await Promise.all(files.map(isFile));
  return files.filter((_, i) => isKept[i]).sort();
}

function noFiles(path: string): Problem {
  return new Problem({
    code: 'DB_NO_FILE',
    family: 'config',
    message: `no Parquet file at ${path}`,
    next: 'fix the path or pattern in the parquet option',
  });
}

/** The database, or else the patterns of the Parquet files, in messages. */
function placeOf({ source, folder }: ConnectOptions): string {
  if (source.file !== undefined) return resolve(folder, source.file);
  return Object.values(source.parquet)
    .flat()
    .map((path) => resolve(folder, path))
    .join(', ');
}
