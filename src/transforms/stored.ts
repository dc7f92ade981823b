import { type Batch, type Cells, storedRow, type Value } from '../sdk/batch.ts';

/** The number of stored rows up to the last visible one, which is the size for this batch's new cells. */
export function storedCount(batch: Batch): number {
  const { rows, length } = batch;
  if (rows === undefined) return length;
  let last = -1;
  for (let i = 0; i < length; i++) if (rows[i]! > last) last = rows[i]!;
  return last + 1;
}

/** An array of nulls for this batch's new cells, to be filled at the visible stored rows. */
export function newCells(batch: Batch): Value[] {
  return new Array<Value>(storedCount(batch)).fill(null);
}

/** Whether a stored cell is absent. */
export function isNull(cells: Cells, stored: number): boolean {
  if (cells.kind === 'values') return (cells.values[stored] ?? null) === null;
  return cells.spans[2 * (stored * cells.stride + cells.slot)]! < 0;
}

/** The batch with only the visible rows for which `keep` (by stored row) is true; null if none is left. */
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
