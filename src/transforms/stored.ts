import { type Batch, type Cells, storedRow, type Value } from '../sdk/batch.ts';

/** Returns the number of stored rows up to the last visible row. New cells of the batch need an array of this size. */
export function storedCount(batch: Batch): number {
  const { rows, length } = batch;
  if (rows === undefined) return length;
  let last = -1;
  for (let i = 0; i < length; i++) if (rows[i]! > last) last = rows[i]!;
  return last + 1;
}

/**
 * Returns an array of nulls for new cells of the batch. The caller fills it at the indexes of the visible stored rows.
 */
export function newCells(batch: Batch): Value[] {
  return new Array<Value>(storedCount(batch)).fill(null);
}

/** Returns whether a stored cell is null. */
export function isNull(cells: Cells, stored: number): boolean {
  if (cells.kind === 'values') return (cells.values[stored] ?? null) === null;
  return cells.spans[2 * (stored * cells.stride + cells.slot)]! < 0;
}

/**
 * Returns the batch with only those visible rows for which `keep` returns true. `keep` gets the index of a stored row.
 * Returns null if no rows are left.
 */
export function keepRows(batch: Batch, keep: (stored: number) => boolean): Batch | null {
  const rows = new Int32Array(batch.length);
  let length = 0;
  for (let i = 0; i < batch.length; i++) {
    const stored = storedRow(batch, i);
    if (keep(stored)) rows[length++] = stored;
  }
  if (length === batch.length) return batch;
  return length === 0 ? null : { columns: batch.columns, cells: batch.cells, length, rows };
}
