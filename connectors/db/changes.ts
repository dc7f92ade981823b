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

/** An open read of the rows since the watermark. */
interface OpenChanges {
  readonly read: Extraction;
  readonly before: CursorWatermark | undefined;
  readonly columns: readonly Column[];
  /** Index of the cursor. */
  readonly at: number;
  /** Index of the column that determines the order. If the query also returned the stored value, it's the last one. */
  readonly decides: number;
  readonly type: Column['type'];
}

/** Opens the rows since the watermark, in order of the cursor. */
export async function openChanges({ query, dialect, watermark, ask }: ChangesOptions): Promise<OpenChanges> {
  const { cursor: column, lag, null_cursors: nulls } = query;
  const before = parseWatermark(watermark);
  const from = before === undefined ? {} : { from: [lagged(column, before.value, lag)] };
  const range = { columns: [column], nulls: nulls === 'refuse' ? 'read' : nulls, ...from } as const;
  const read = await ask(rangeQuery(query, range, dialect));
  const at = columnAt(read.columns, column, { option: 'cursor', dialect });
  const { type } = read.columns[at]!;
  refuseCursorType(column, type);
  const columns = dialect.stored === undefined ? read.columns : read.columns.slice(0, -1);
  return { read, before, columns, at, decides: dialect.stored === undefined ? at : columns.length, type };
}

/**
 * Incremental read: returns the rows that were added or changed since the last run, ordered by a column whose values
 * increase.
 */
export async function extractChanges(options: ChangesOptions): Promise<Extraction> {
  const { query } = options;
  const { cursor: column, lag } = query;
  const { read, before, columns, at, decides, type } = await openChanges(options);
  const edge = new BoundaryRows({ column, lag, before, at: decides, type, columns, isSorted: true });
  const counted = { fresh: 0 };
  return {
    columns,
    cursor: column,
    batches: freshRows(wholeBatches(read.batches, { columns, at, before }), { columns, edge, counted }),
    watermark: () => {
      const after = edge.watermark();
      return after === undefined ? undefined : watermarkText(after);
    },
    unchanged: () => counted.fresh === 0,
    comesAgain: () => edge.comesAgain,
  };
}

/** What to do about rows whose cursor is null. */
export const mendNulls =
  'replace nulls in the query (coalesce(updated_at, created_at) as updated_at), or set null_cursors: leave_out';

/** The batches that have rows. Throws a Problem for a cursor that is null, or of another type than in the last run. */
export async function* wholeBatches(
  batches: AsyncIterable<Batch>,
  { columns, at, before }: Pick<OpenChanges, 'columns' | 'at' | 'before'>,
): AsyncGenerator<Batch, void, void> {
  let rows = 0;
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    // Without rows, SQLite can't tell a column's type.
    if (rows === 0) refuseOtherType(columns[at]!, before?.value);
    refuseNulls(batch, at, { before: rows, next: mendNulls });
    rows += batch.length;
    yield batch;
  }
}

interface Reading {
  readonly columns: readonly Column[];
  readonly edge: BoundaryRows;
  readonly counted: { fresh: number };
}

async function* freshRows(batches: AsyncIterable<Batch>, reading: Reading): AsyncGenerator<Batch, void, void> {
  const { columns, edge, counted } = reading;
  for await (const batch of batches) {
    const { cells, ...fresh } = edge.fresh(batch);
    counted.fresh += fresh.length;
    if (fresh.length > 0) yield { ...fresh, columns, cells: cells.slice(0, columns.length) };
  }
}
