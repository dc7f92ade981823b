import {
  type Batch,
  type Column,
  type CursorBound,
  type Extraction,
  parseWatermark,
  type Range,
  rangeBounds,
  refuseCursorType,
} from '#sdk';
import type { ChangesOptions } from './changes.ts';
import { rangeQuery } from './dialect.ts';
import { columnAt } from './ordered.ts';

/** The options of a range read. The watermark determines the cursor column's type. */
interface RangeReadOptions extends ChangesOptions {
  readonly range: Range;
  /** IANA time zone in which days start and end, and which applies to times without a zone. */
  readonly timezone: string | undefined;
}

/**
 * Reads the rows whose cursor value is in a range, regardless of earlier runs. Rows whose cursor is null aren't in any
 * range.
 */
export async function extractRange(given: RangeReadOptions): Promise<Extraction> {
  const { query, dialect, range, timezone = 'UTC', ask } = given;
  const { cursor: column } = query;
  const before = parseWatermark(given.watermark)?.value;
  const { from, to } = rangeBounds(range, { column, type: before?.type, timezone });
  const bounds = { from: [stored(from, before!)], to: stored(to, before!) };
  const read = await ask(rangeQuery(query, { columns: [column], ...bounds, nulls: 'leave_out' }, dialect));
  const { type } = read.columns[columnAt(read.columns, column, { option: 'cursor', dialect })]!;
  refuseCursorType(column, type);
  const columns = dialect.stored === undefined ? read.columns : read.columns.slice(0, -1);
  return {
    columns,
    cursor: column,
    covers: { column, from: from.text, to: to.text },
    batches: without(read.batches, columns),
  };
}

/** Removes the last column, which was read only to sort the rows. */
async function* without(batches: AsyncIterable<Batch>, columns: readonly Column[]): AsyncGenerator<Batch, void, void> {
  for await (const batch of batches) {
    const { cells, ...rest } = batch;
    yield { ...rest, columns, cells: cells.slice(0, columns.length) };
  }
}

/** Writes a bound in the same format as the column's values. SQLite compares text, so a space and a T are different. */
function stored(bound: CursorBound, { text }: CursorBound): CursorBound {
  return text[10] === ' ' ? { ...bound, text: bound.text.replace('T', ' ') } : bound;
}
