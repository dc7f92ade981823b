import { Problem } from '../lib/problem.ts';
import type { Batch } from './batch.ts';
import type { Column } from './column.ts';

/** Rejects duplicate column names, because no format or expression could address such columns. */
export function checkColumns(columns: readonly Column[]): void {
  const seen = new Set<string>();
  for (const { name } of columns) {
    if (seen.has(name)) throw twice(name);
    seen.add(name);
  }
}

function twice(name: string): Problem {
  return new Problem({
    code: 'SOURCE_COLUMN_TWICE',
    family: 'config',
    message: `The source returned two columns named "${name}"`,
    where: { column: name },
    next: 'rename one of the columns in the query',
  });
}

/**
 * Checks that a batch meets the contract for all connectors (see `Extraction`). A violation is a bug in Sluice or the
 * plugin.
 */
export function checkBatch(batch: Batch, columns: readonly Column[]): void {
  if (batch.columns !== columns) throw breach('the columns array of a batch is not the array of its extract');
  if (batch.cells.length !== columns.length)
    throw breach(`a batch has cells for ${batch.cells.length} columns, but the extract has ${columns.length}`);
  if (batch.rows !== undefined && batch.rows.length < batch.length)
    throw breach(`a batch has ${batch.length} rows, but its row map has only ${batch.rows.length}`);
}

function breach(message: string): Problem {
  return new Problem({
    code: 'CONNECTOR_BATCH',
    family: 'bug',
    message: `The connector broke its contract: ${message}`,
  });
}
