import {
  type Batch,
  BoundaryRows,
  type Column,
  type CursorWatermark,
  type Extraction,
  lagged,
  parseWatermark,
  refuseCursorType,
  refuseOtherType,
  watermarkText,
} from '#sdk';
import { type Dialect, type RunQuery, rangeQuery } from './dialect.ts';
import type { SqlQuery } from './options.ts';
import { columnAt, refuseNulls } from './ordered.ts';

export interface ChangesOptions {
  readonly query: SqlQuery & { readonly cursor: string };
  readonly dialect: Dialect;
  readonly watermark: string | undefined;
  readonly ask: RunQuery;
}

/**
 * Incremental read: returns the rows that were added or changed since the last run, ordered by a column whose values
 * increase.
 */
export async function extractChanges({ query, dialect, watermark, ask }: ChangesOptions): Promise<Extraction> {
  const { cursor: column, lag, null_cursors: nulls } = query;
  const before = parseWatermark(watermark);
  const from = before === undefined ? {} : { from: [lagged(column, before.value, lag)] };
  const read = await ask(
    rangeQuery(query, { columns: [column], nulls: nulls === 'refuse' ? 'read' : nulls, ...from }, dialect),
  );
  const at = columnAt(read.columns, column, 'cursor');
  const { type } = read.columns[at]!;
  refuseCursorType(column, type);
  // If the query also returned the stored value, it's the last column, which is dropped here.
  const columns = dialect.stored === undefined ? read.columns : read.columns.slice(0, -1);
  const decides = dialect.stored === undefined ? at : columns.length;
  const edge = new BoundaryRows({ column, lag, before, at: decides, type, columns, isSorted: true });
  const counted = { fresh: 0 };
  return {
    columns,
    cursor: column,
    batches: freshRows(read.batches, { columns, at, edge, counted, before }),
    watermark: () => {
      const after = edge.watermark();
      return after === undefined ? undefined : watermarkText(after);
    },
    unchanged: () => counted.fresh === 0,
    comesAgain: () => edge.comesAgain,
  };
}

interface Reading {
  readonly columns: readonly Column[];
  /** Index of the cursor. */
  readonly at: number;
  readonly edge: BoundaryRows;
  readonly counted: { fresh: number };
  readonly before: CursorWatermark | undefined;
}

const mendNulls =
  'replace nulls in the query (coalesce(updated_at, created_at) as updated_at), or set null_cursors: leave_out';

async function* freshRows(batches: AsyncIterable<Batch>, reading: Reading): AsyncGenerator<Batch, void, void> {
  const { columns, at, edge, counted } = reading;
  let rows = 0;
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    // Without rows, SQLite can't tell a column's type.
    if (rows === 0) refuseOtherType(columns[at]!, reading.before?.value);
    refuseNulls(batch, at, { before: rows, next: mendNulls });
    rows += batch.length;
    const { cells, ...fresh } = edge.fresh(batch);
    counted.fresh += fresh.length;
    if (fresh.length > 0) yield { ...fresh, columns, cells: cells.slice(0, columns.length) };
  }
}
