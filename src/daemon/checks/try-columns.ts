import { rm } from 'node:fs/promises';
import type { Extract, Job } from '../../config/config.ts';
import { missingColumns } from '../../guards/check-guards.ts';
import { checkNamedColumns } from '../../kept-rows/kept-columns.ts';
import { Problem, toProblem } from '../../lib/problem.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import { Chain } from '../../pipeline/chain.ts';
import { SourceReader } from '../../pipeline/source.ts';
import type { Column } from '../../sdk/column.ts';
import { guardSource } from '../login-holds/source-session.ts';
import type { CheckSourceOptions } from './check-source.ts';

/**
 * Timeout for finding a query's columns. Some queries compute rows before their columns are known; if they take longer
 * than this, the check skips them.
 */
const patienceMs = 60_000;

export type ColumnsAnswer = { readonly message: string } | { readonly problem: Problem };

/** Whether a job refers to columns that can be checked without reading a row (see the connectors' `columnsFirst`). */
export function namesColumns({ enabled, extract, guards = {} }: Job): boolean {
  if (!enabled || extract?.source.connector.columnsFirst !== true) return false;
  const { transforms, write, query, source } = extract;
  const isGuarded = [guards.columns, guards.nulls, guards.unique, guards.newest].some((guard) => guard !== undefined);
  const hasCursor = source.connector.givesOnlyNewBy?.(query) !== undefined;
  return transforms.length > 0 || write !== undefined || hasCursor || isGuarded;
}

/**
 * Opens a job's query and checks that the columns named in the job's options, transforms, `write`, format and guards
 * exist. Stops before reading the first row. Throws only the signal's reason.
 */
export async function tryColumns(job: Job, given: CheckSourceOptions): Promise<ColumnsAnswer> {
  try {
    const columns = await openColumns(job.extract!, given);
    const shaped = shapedColumns(job.extract!, columns);
    const missing = missingColumns(
      job.guards ?? {},
      shaped.map(({ name }) => name),
    );
    if (missing === undefined) return { message: 'its query returns the columns that the job requires' };
    throw new Problem({ code: 'GUARD_FAILED', family: 'config', ...missing, next: 'fix the guards or the query' });
  } catch (thrown) {
    given.signal.throwIfAborted();
    const problem = toProblem(thrown, { code: 'CHECK_THREW', family: 'bug' }).at({ job: job.name });
    if (problem.code !== 'SOURCE_STALLED') return { problem };
    return { message: `columns unknown: the query timed out after ${patienceMs / 1000} s` };
  }
}

async function openColumns(extract: Extract, given: CheckSourceOptions): Promise<readonly Column[]> {
  const { config, logins, loginGate, clock, log, signal } = given;
  const scratch = await makeTempFolder(`check-${process.pid}`);
  const login = logins.of(extract.source);
  const source = new SourceReader({
    ...{ extract: { ...extract, stallTimeoutMs: patienceMs }, folder: config.folder, scratch, signal, clock, log },
    warn: () => undefined,
    guard: guardSource(loginGate, extract.source, given),
    login,
  });
  try {
    return await source.open();
  } finally {
    await source.close().finally(() => rm(scratch, { recursive: true, force: true }));
  }
}

/** Returns the payload's columns. Throws a Problem if the job refers to a column that doesn't exist. */
function shapedColumns({ transforms, write, format, formatOptions }: Extract, columns: readonly Column[]) {
  if (write !== undefined) checkNamedColumns(columns, write);
  const chain = new Chain(transforms, columns);
  format.encoder(chain.columns, formatOptions);
  return chain.columns;
}
