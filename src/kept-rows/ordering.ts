import { Problem } from '../lib/problem.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column, ColumnType, KeptColumn } from '../sdk/column.ts';
import { namedColumn } from './kept-columns.ts';
import { maxOrderedBytes, type OrderedBytes, orderedBytes } from './ordered-bytes.ts';

/** A column whose values are encoded as sortable bytes. */
export interface Ordering extends Column {
  /** The column's index in the run. */
  readonly at: number;
  readonly write: OrderedBytes;
  /** Whether byte cells are copied, because times in the usual format sort correctly as text. */
  readonly copies: boolean;
}

/** An upper bound for the number of bytes that row `r` has in this column as sortable bytes. */
export function orderedSize(batch: Batch, { at }: Ordering, r: number): number {
  const cells = batch.cells[at]!;
  if (cells.kind === 'values') return maxOrderedBytes(String(cells.values[r] ?? ''));
  const span = 2 * (r * cells.stride + cells.slot);
  return 6 * (cells.spans[span + 1]! - cells.spans[span]!) + 16;
}

/**
 * How the values of a key column are ordered. The key is encoded with the kept rows' type, so that a run that returns
 * integers finds its rows even if other runs returned decimals.
 */
export function keyOrdering(
  name: string,
  { columns, come }: { columns: readonly KeptColumn[]; come: readonly Column[] },
): Ordering {
  const at = namedColumn(come, name, 'key');
  const known = columns.find((column) => column.name === name);
  const { type } = known?.seen === true ? known : come[at]!;
  const write = orderedBytes(type);
  if (write !== undefined) return { name, type, at, write, copies: copies(type) };
  throw new Problem({
    code: 'SET_KEY_TYPE',
    family: 'config',
    message: `Column ${JSON.stringify(name)} cannot be part of a key, because its type is ${type}`,
    where: { column: name },
    seen: type,
    allowed: 'columns of any type except float and json, whose equal values can be written differently',
    next: 'cast the column in the query, or set another key in write.key',
  });
}

/**
 * How versions are ordered; undefined if the last row to arrive wins. This is the case for a cursor of strings, because
 * the source has its own string order.
 */
export function versionOrdering(cursor: string | undefined, come: readonly Column[]): Ordering | undefined {
  const at = come.findIndex(({ name }) => name === cursor);
  const column = come[at];
  if (column === undefined || column.type === 'text') return undefined;
  const write = orderedBytes(column.type);
  return write === undefined ? undefined : { ...column, at, write, copies: copies(column.type) };
}

const copies = (type: ColumnType): boolean => type === 'timestamptz' || type === 'timestamp' || type === 'date';
