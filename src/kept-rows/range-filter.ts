import { Problem } from '../lib/problem.ts';
import type { Column } from '../sdk/column.ts';
import type { ColumnRange } from './manifest.ts';
import { maxOrderedBytes, orderedBytes } from './ordered-bytes.ts';
import { findCells, type RecordRef } from './record.ts';

/** Returns a filter that accepts records whose value is in the range. Values are compared by the column's type. */
export function rangeFilter(stretch: ColumnRange, columns: readonly Column[]): (spot: RecordRef) => boolean {
  const at = columns.findIndex(({ name }) => name === stretch.column);
  const write = at < 0 ? undefined : orderedBytes(columns[at]!.type);
  if (write === undefined) throw noStretch(stretch.column);
  const bytes = (text: string): Buffer => {
    const into = Buffer.allocUnsafe(maxOrderedBytes(text));
    return into.subarray(0, write(text, into, 0));
  };
  const [from, to] = [bytes(stretch.from), bytes(stretch.to)];
  const spans = new Int32Array(2 * columns.length);
  return (spot) => {
    findCells(spot, { spans, at: 0, width: columns.length, origin: 0 });
    const start = spans[2 * at]!;
    if (start < 0) return false;
    const value = bytes(spot.buffer.toString('utf8', start, spans[2 * at + 1]));
    return Buffer.compare(value, from) >= 0 && Buffer.compare(value, to) < 0;
  };
}

function noStretch(column: string): Problem {
  return new Problem({
    code: 'SET_STRETCH',
    family: 'job',
    message: `The job's kept rows cannot be filtered by column ${JSON.stringify(column)}`,
    where: { column },
    next: 'let the job read everything again: sluice state clear JOB',
  });
}
