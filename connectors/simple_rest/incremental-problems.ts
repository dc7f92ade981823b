import { type Column, excerpt, Problem } from '#sdk';

/** The problem if records don't have the cursor column. */
export function noCursorColumn(cursor: string, columns: readonly Column[]): Problem {
  return new Problem({
    code: 'REST_NO_CURSOR',
    family: 'job',
    message: `no record has the column ${JSON.stringify(cursor)}, which is set in \`cursor\``,
    where: { column: cursor },
    allowed: columns.map(({ name }) => name).join(', '),
    next: 'set `cursor` to a column of the records; nested names are joined by dots, such as meta.updated_at',
  });
}

/** The problem if a record has no cursor value, so that it's unknown whether it's new. */
export function noCursorValue(column: string, row: number): Problem {
  return new Problem({
    code: 'REST_NULL_CURSOR',
    family: 'job',
    message: `record ${row} of the response has no value in the cursor column ${JSON.stringify(column)}`,
    where: { column, row },
    next: 'use a column that every record has, or skip such records with `null_cursors: leave_out`',
  });
}

/** The problem if a cursor value isn't a number, a date or a time, or not of the same type as the other values. */
export function notComparable({ name, type }: Column, { row, seen }: { row?: number; seen: string }): Problem {
  return new Problem({
    code: 'CURSOR_VALUE',
    family: 'job',
    message:
      row === undefined
        ? `column ${JSON.stringify(name)} cannot be a cursor: its values are not numbers, dates or times`
        : `record ${row} of the response has a value in the cursor column ${JSON.stringify(name)} that is not of type ${type}`,
    where: { column: name, ...(row === undefined ? {} : { row }) },
    seen: excerpt(seen, 80),
    allowed: '123, 1.50, 2026-01-31, 2026-01-31T09:00:00, 2026-01-31T09:00:00Z',
    next: 'for another format, declare it under `types`, such as {type: timestamptz, format: epoch_ms}; otherwise, use another column',
  });
}
