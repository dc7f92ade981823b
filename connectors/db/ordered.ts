import { type Batch, type Cells, type Column, Problem, storedRow } from '#sdk';
import type { Dialect } from './dialect.ts';

interface OrderOption {
  /** The option's name. */
  readonly option: string;
  readonly dialect: Pick<Dialect, 'comparesTexts'>;
}

/**
 * Index of the column that an option names, which determines the order of rows. Throws a Problem if the result has no
 * such column, or the database can't compare its values.
 */
export function columnAt(columns: readonly Column[], name: string, { option, dialect }: OrderOption): number {
  const at = columns.findIndex((column) => column.name === name);
  if (columns[at]?.type === 'text' && dialect.comparesTexts === false) throw textsChanged(name, option);
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

function textsChanged(column: string, option: string): Problem {
  return new Problem({
    code: 'DB_TEXT_ORDER',
    family: 'config',
    message: `${option} cannot use column ${JSON.stringify(column)}: because of encoding or bad_text, its texts differ from those in the database`,
    where: { column },
    next: `use a column with numbers or times for ${option}`,
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
