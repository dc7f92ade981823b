import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { DuckdbApi } from '../../connectors/db/duckdb-api.ts';
import { hasNpm, npmProject } from './npm-project.ts';
import { hasVenv, venvOf } from './python-venv.ts';

export const hasDuckdb = (): boolean => hasNpm() && hasVenv();

/** A folder in which DuckDB's package for Node is installed. */
export const duckdbFolder = (): Promise<string> => npmProject('duckdb');

/** Runs statements on a DuckDB file, or in memory without a path. Paths in the statements are relative to `cwd`. */
export async function runDuckdb(path: string | undefined, ...statements: readonly string[]): Promise<void> {
  const { DuckDBInstance } = await loadDuckdb();
  const instance = await DuckDBInstance.create(path ?? ':memory:', { autoinstall_known_extensions: 'false' });
  const connection = await instance.connect();
  for (const sql of statements) await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
}

/** What tests use of the package, in addition to what Sluice uses. */
interface WritingApi {
  readonly DuckDBInstance: {
    create(...args: Parameters<DuckdbApi['DuckDBInstance']['create']>): Promise<{
      connect(): Promise<{ run(sql: string): Promise<unknown>; closeSync(): void }>;
      closeSync(): void;
    }>;
  };
}

async function loadDuckdb(): Promise<WritingApi> {
  return createRequire(join(await duckdbFolder(), 'package.json'))('@duckdb/node-api') as WritingApi;
}

/** Runs a Python program that has Apache Arrow's library, which writes Parquet files. */
export async function runPyarrow(program: string, cwd: string): Promise<void> {
  execFileSync(join(await venvOf('buenavista'), 'bin/python3'), ['-c', program], { cwd });
}

/** A process that holds DuckDB's lock on a file until it's stopped. */
export const lockingProgram = (path: string): string => `
import duckdb, sys
connection = duckdb.connect(${JSON.stringify(path)})
connection.execute('create table if not exists locked(a int)')
print('locked', flush=True)
sys.stdin.read()
`;
