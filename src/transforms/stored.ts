import { type Batch, type Cells, storedRow, type Value } from '../sdk/batch.ts';

/** How many stored rows a batch has, as far as its visible rows reach: the size of cells that stand beside its own. */
export function storedCount(batch: Batch): number {
  const { rows, length } = batch;
  if (rows === undefined) return length;
  let last = -1;
  for (let i = 0; i < length; i++) if (rows[i]! > last) last = rows[i]!;
  return last + 1;
}

/** An array for new cells of this batch, all null, to be filled at the stored rows that are visible. */
export function newCells(batch: Batch): Value[] {
  return new Array<Value>(storedCount(batch)).fill(null);
}

/** Whether a stored cell is absent. */
export function isNull(cells: Cells, stored: number): boolean {
  if (cells.kind === 'values') return (cells.values[stored] ?? null) === null;
  return cells.spans[2 * (stored * cells.stride + cells.slot)]! < 0;
}

/** The batch with only those visible rows for which `keep` says yes, by stored row; null when none is left. */
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
