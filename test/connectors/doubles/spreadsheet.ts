import type { Asked, Routes } from './vendor.ts';

export type Cells = readonly (readonly unknown[])[];

interface Sheet {
  readonly cells: Cells;
  readonly hidden?: boolean;
  /** The grid's size; by default, that of the cells, with 26 columns. */
  readonly rows?: number;
  readonly columns?: number;
}

/**
 * Simulates a Google spreadsheet: cuts ranges out of sheets, omitting empty cells at the end of each row and of the
 * range.
 */
export function spreadsheet(id: string, sheets: Readonly<Record<string, Sheet>>): Routes {
  const properties = Object.entries(sheets).map(([title, { cells, hidden, rows, columns }], index) => ({
    properties: {
      sheetId: index,
      title,
      index,
      sheetType: 'GRID',
      gridProperties: { rowCount: rows ?? cells.length, columnCount: columns ?? 26 },
      ...(hidden === undefined ? {} : { hidden }),
    },
  }));
  return {
    [`GET /v4/spreadsheets/${id}`]: ({ query }: Asked) => ({
      json: query.get('fields') === 'properties.title' ? { properties: { title: 'Budget' } } : { sheets: properties },
    }),
    [`GET /v4/spreadsheets/${id}/values:batchGet`]: ({ query }: Asked) => ({
      json: { valueRanges: query.getAll('ranges').map((range) => cutOut(range, sheets)) },
    }),
  };
}

function cutOut(range: string, sheets: Readonly<Record<string, Sheet>>) {
  const [, title = '', left = '', first = '', right = '', last = ''] =
    /^'(.*)'!([A-Z]+)(\d+):([A-Z]+)(\d+)$/.exec(range) ?? [];
  const { cells } = sheets[title.replaceAll("''", "'")]!;
  const rows = cells
    .slice(Number(first) - 1, Number(last))
    .map((row) => row.slice(numberOf(left) - 1, numberOf(right)));
  const values = trimmed(
    rows.map((row) => trimmed(row, (cell) => cell === '')),
    (row) => row.length === 0,
  );
  return { range, majorDimension: 'ROWS', ...(values.length === 0 ? {} : { values }) };
}

function numberOf(letters: string): number {
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

function trimmed<T>(items: readonly T[], isBlank: (item: T) => boolean): readonly T[] {
  const last = items.findLastIndex((item) => !isBlank(item));
  return items.slice(0, last + 1);
}
