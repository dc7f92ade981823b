import { type Batch, type Cells, type Column, Problem, storedRow } from '#sdk';

/** Index of the column named in an option. Throws a Problem if the result has no such column. */
export function columnAt(columns: readonly Column[], name: string, option: string): number {
  const at = columns.findIndex((column) => column.name === name);
  if (at !== -1) return at;
  throw new Problem({
    code: 'DB_NO_COLUMN',
    family: 'job',
    message: `the ${option} option names column ${JSON.stringify(name)}, but the result has no such column`,
    where: { column: name },
    allowed: columns.map((column) => column.name).join(', '),
    next: `select it in the query, or fix ${option}`,
  });
}

function isNull(cells: Cells, stored: number): boolean {
  if (cells.kind === 'values') return cells.values[stored] === null;
  return cells.spans[2 * (stored * cells.stride + cells.slot)]! < 0;
}

/**
 * Rejects rows with null in the column that determines their order. `before` is the number of rows before this batch.
 */
export function refuseNulls(batch: Batch, at: number, { before, next }: { before: number; next: string }): void {
  const cells = batch.cells[at]!;
  for (let i = 0; i < batch.length; i++) {
    if (isNull(cells, storedRow(batch, i))) throw nullInOrder(batch.columns[at]!.name, { row: before + i + 1, next });
  }
}

/** The error for a row with null in the column that determines the order of rows. */
export function nullInOrder(column: string, { row, next }: { row?: number; next: string }): Problem {
  return new Problem({
    code: 'DB_NULL_IN_ORDER',
    family: 'job',
    message: `column ${JSON.stringify(column)} is null in a row, so the row's position is unknown`,
    where: { column, row },
    next,
  });
}
