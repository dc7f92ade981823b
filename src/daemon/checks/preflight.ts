import { rm } from 'node:fs/promises';
import type { Extract, Job } from '../../config/config.ts';
import { missingColumns } from '../../guards/check-guards.ts';
import { checkNamedColumns } from '../../kept-rows/kept-columns.ts';
import { Problem, toProblem } from '../../lib/problem.ts';
import { type RunWarning, RunWarnings } from '../../lib/run-warnings.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import { Chain } from '../../pipeline/chain.ts';
import type { JobRowsReader } from '../../pipeline/job-rows-reader.ts';
import { SourceReader } from '../../pipeline/source.ts';
import type { Column } from '../../sdk/column.ts';
import type { FirstPage, PreviewLimits } from '../../sdk/preview.ts';
import type { Store } from '../../state/store.ts';
import { guardSource } from '../login-holds/source-session.ts';
import { jobRowsFrom } from '../run/job-rows.ts';
import type { CheckSourceOptions } from './check-source.ts';

/**
 * Timeout for finding a query's columns. Some queries compute rows before their columns are known; if they take longer
 * than this, the check skips them.
 */
const patienceMs = 60_000;

export interface PreflightOptions extends CheckSourceOptions {
  readonly store: Store;
  readonly preview: PreviewLimits;
}

/** What a job's query returns, or why it returns nothing. */
export type PreflightResult = PreflightFindings & { readonly problem?: Problem };

interface PreflightFindings {
  /** The result in one sentence. */
  readonly message: string;
  /** The columns of the source, before transforms. Empty if they are unknown. */
  readonly columns: readonly Pick<Column, 'name' | 'type'>[];
  readonly firstPage?: FirstPage | undefined;
  /** The jobs whose rows the query reads, and the age of these rows in milliseconds. */
  readonly jobRows: readonly { readonly job: string; readonly ageMs: number }[];
  readonly warnings: readonly RunWarning[];
}

/** What the source returned before it was closed. */
interface Opened extends Omit<PreflightFindings, 'message' | 'columns'> {
  readonly columns: readonly Column[];
}

/** Whether a job refers to columns that can be checked without reading a row (see the connectors' `columnsFirst`). */
export function namesColumns({ enabled, extract, guards = {} }: Job): boolean {
  if (!enabled || extract?.source.connector.columnsFirst !== true) return false;
  const { transforms, write, query, source } = extract;
  const isGuarded = [guards.columns, guards.nulls, guards.unique, guards.newest].some((guard) => guard !== undefined);
  const hasCursor = source.connector.givesOnlyNewBy?.(query) !== undefined;
  return transforms.length > 0 || write !== undefined || hasCursor || isGuarded;
}

/**
 * Opens a job's query as a run does, but reads at most the first page, and sends and stores nothing. Checks that the
 * columns named in the job's options, transforms, `write`, format and guards exist. Throws only the signal's reason.
 */
export async function preflight(job: Job, given: PreflightOptions): Promise<PreflightResult> {
  const { extract } = job;
  if (extract === undefined) return { message: 'the job has no source', columns: [], jobRows: [], warnings: [] };
  const warnings = new RunWarnings();
  const nothing = { message: '', columns: [], jobRows: [] };
  try {
    const opened = await open(extract, given, warnings);
    return { ...opened, message: sentenceOf(opened), warnings: [...opened.warnings, ...columnFaults(job, opened)] };
  } catch (thrown) {
    given.signal.throwIfAborted();
    const problem = toProblem(thrown, { code: 'CHECK_THREW', family: 'bug' }).at({ job: job.name });
    // What the source said before it failed often explains the problem.
    if (problem.code !== 'SOURCE_STALLED') return { ...nothing, problem, warnings: warnings.list };
    const message = `columns unknown: the query timed out after ${patienceMs / 1000} s`;
    return { ...nothing, message, warnings: [] };
  }
}

async function open(extract: Extract, given: PreflightOptions, warnings: RunWarnings): Promise<Opened> {
  const { config, store, logins, loginGate, clock, log, signal, preview } = given;
  const scratch = await makeTempFolder(`check-${process.pid}`);
  const login = logins.of(extract.source);
  const jobRows: { job: string; ageMs: number }[] = [];
  const read = jobRowsFrom(store);
  const rowsOf: JobRowsReader = async (job, options) => {
    const rows = await read(job, options);
    jobRows.push({ job, ageMs: Math.max(0, store.clock.now() - rows.asOf) });
    return rows;
  };
  const source = new SourceReader({
    ...{ extract: { ...extract, stallTimeoutMs: patienceMs }, folder: config.folder, scratch, signal, clock, log },
    warn: warnings.add,
    guard: guardSource(loginGate, extract.source, given),
    login,
    preview,
    rowsOf,
  });
  try {
    const columns = await source.open();
    const { firstPage } = source.properties;
    // Without its first rows, a query that declares its columns may not have been sent yet.
    if (extract.source.connector.columnsFirst !== true && firstPage === undefined) await source.next();
    return { columns, firstPage, jobRows, warnings: warnings.list };
  } finally {
    await source.close().finally(() => rm(scratch, { recursive: true, force: true }));
  }
}

function sentenceOf({ columns, firstPage }: Opened): string {
  const count = columns.length === 1 ? 'its query returns 1 column' : `its query returns ${columns.length} columns`;
  if (firstPage === undefined) return count;
  const { records, hasNext } = firstPage;
  const page = records === 1 ? '1 record' : `${records} records`;
  return `${count}, and ${page} on the first page; ${hasNext ? 'more pages follow' : 'no other page would be requested'}`;
}

/**
 * Throws a Problem if the job refers to a column that doesn't exist. If only one page was read, other pages may have the
 * column, so the problem is only a warning.
 */
function columnFaults(job: Job, { columns, firstPage }: Opened): readonly RunWarning[] {
  if (firstPage?.records === 0) return [];
  try {
    checkColumns(job, columns);
    return [];
  } catch (thrown) {
    if (firstPage?.hasNext !== true || !(thrown instanceof Problem)) throw thrown;
    const { code, message, seen, next } = thrown;
    return [{ code, message: `${message} (on the first page)`, seen, next }];
  }
}

function checkColumns({ extract, guards = {} }: Job, columns: readonly Column[]): void {
  const shaped = shapedColumns(extract!, columns);
  const missing = missingColumns(
    guards,
    shaped.map(({ name }) => name),
  );
  if (missing === undefined) return;
  throw new Problem({ code: 'GUARD_FAILED', family: 'config', ...missing, next: 'fix the guards or the query' });
}

/** Returns the payload's columns. Throws a Problem if the job refers to a column that doesn't exist. */
function shapedColumns({ transforms, write, format, formatOptions }: Extract, columns: readonly Column[]) {
  if (write !== undefined) checkNamedColumns(columns, write);
  const chain = new Chain(transforms, columns);
  format.encoder(chain.columns, formatOptions);
  return chain.columns;
}
