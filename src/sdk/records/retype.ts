import { type ByteCells, type Cells, cellText, type Value } from '../batch.ts';
import type { Column } from '../column.ts';
import { canonicalText } from './canonical.ts';
import { surelyCanonical } from './canonical-bytes.ts';
import { faultIn, type InputPosition, type RecordInput, shorten } from './input.ts';
import { familyOf, type ValueFormat } from './value-format.ts';

interface Retyping {
  readonly input: RecordInput;
  readonly column: Column;
  readonly cells: Cells;
  readonly rows: number;
  /** The format of the strings. Absent if they're canonical or in a form that needs no declaration. */
  readonly format?: ValueFormat | undefined;
  /**
   * Whether cell `r` is already a value of the column's type rather than a string, such as a JSON number or a date in a
   * sheet, so that no format applies.
   */
  readonly isNative?: (r: number) => boolean;
  /** The position in the input of the batch's row `r`. */
  spotOf(r: number): InputPosition;
}

/**
 * Converts a column's cells from strings in another format to the canonical text of its type. Cells that are already
 * canonical keep their bytes. Throws a Problem of the `row` family for the first value that can't be converted.
 */
export function retype(given: Retyping): Cells {
  const isSure = surenessOf(given);
  let values: Value[] | undefined;
  for (let r = 0; r < given.rows; r++) {
    const isKept = isSure(r);
    if (isKept && values === undefined) continue;
    const text = cellText(given.cells, 'text', r);
    const canonical = text === null || isKept ? text : fitted(given, text, r);
    if (values === undefined && canonical !== text) values = textsBefore(given.cells, r);
    values?.push(canonical);
  }
  return values === undefined ? given.cells : { kind: 'values', values };
}

/** Whether cell `r` is certainly canonical, judging by its bytes; false means that a full check is needed. */
function surenessOf({ cells, column, format }: Retyping): (r: number) => boolean {
  const test = surelyCanonical[column.type];
  // If a format is declared, `1.234` may mean 1234, so the bytes alone prove nothing.
  if (cells.kind === 'values' || test === undefined || format !== undefined) return () => false;
  const { bytes, spans, stride, slot } = cells;
  return (r) => {
    const at = 2 * (r * stride + slot);
    return spans[at]! < 0 || test(bytes, spans[at]!, spans[at + 1]!);
  };
}

function textsBefore(cells: Cells, row: number): Value[] {
  return Array.from({ length: row }, (_, r) => cellText(cells, 'text', r));
}

function fitted(given: Retyping, text: string, r: number): string | null {
  const { input, column, format, isNative, spotOf } = given;
  const isWritten = format !== undefined && !isNative?.(r);
  const canonical = isWritten ? format.read(text) : canonicalText(text, column.type);
  if (canonical !== undefined) return canonical;
  // Spreadsheets often contain blanks where numbers are missing. Only text can be blank, so in other columns a blank is
  // null.
  if (text.trim() === '' && column.type !== 'binary') return null;
  throw faultIn(input, {
    code: 'RECORDS_VALUE',
    family: 'row',
    message: `column ${column.name} has a value that is not of type ${column.type}${isWritten ? ` in format ${format.written}` : ''}`,
    spot: { ...spotOf(r), column: column.name },
    seen: shorten(text),
    allowed: isWritten ? format.written : undefined,
    next: isWritten ? 'fix the value, or declare the format in which all values are written' : adviceOn(given, text),
  });
}

const examples = { number: '"1.234,56"', date: 'dd.MM.yyyy', time: 'hh:mm a', timestamp: 'dd.MM.yyyy HH:mm' } as const;

function adviceOn({ column: { name, type } }: Retyping, text: string): string {
  const family = familyOf(type);
  const example = family === 'timestamptz' ? 'epoch_ms' : family && examples[family];
  if (example === undefined || !/\d/.test(text)) return 'fix the value, or declare the column as text under `types`';
  const type_ = `types: {${/^\w+$/.test(name) ? name : JSON.stringify(name)}: {type: ${type}, format: ${example}}}`;
  return `fix the value, or declare its format, for example \`${type_}\` (\`sluice discover PATH\` suggests a format)`;
}

/** Cells that all contain the same string, or null; `rows` is the maximum number of rows in a batch. */
export function constantCells(text: string | null, rows: number): ByteCells {
  const bytes = Buffer.from(text ?? '', 'utf8');
  const spans = new Int32Array(2 * rows);
  for (let r = 0; r < rows; r++) spans[2 * r + (text === null ? 0 : 1)] = text === null ? -1 : bytes.length;
  return { kind: 'bytes', bytes, spans, stride: 1, slot: 0 };
}
