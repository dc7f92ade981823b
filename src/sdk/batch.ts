import type { Column, ColumnType } from './column.ts';

/**
 * One cell as a JavaScript value. A string is always taken as the canonical text of the column's type. An `integer` may
 * be a bigint, a safe integer or a string of digits; a `decimal` should be a string. `null` means absent, the empty
 * string means empty; the two are never interchangeable.
 */
export type Value = string | number | bigint | boolean | Uint8Array | null;

/**
 * Cells that are still the source's bytes: canonical text of the column's type in UTF-8. Row `r` starts at `spans[2 *
 * (r * stride + slot)]` and ends before the offset that follows; a negative start means null. Columns from one wire
 * message share `bytes` and `spans` (stride = columns on the wire); a column that a driver rewrote has its own `bytes`
 * and `spans` (stride 1, slot 0). The bytes must not change once the batch has been passed on.
 */
export interface ByteCells {
  readonly kind: 'bytes';
  readonly bytes: Buffer;
  readonly spans: Int32Array;
  readonly stride: number;
  readonly slot: number;
}

/** Cells that are JavaScript values: from a transform, or from a source that doesn't deliver bytes. */
export interface ValueCells {
  readonly kind: 'values';
  readonly values: readonly Value[];
}

/** One column's cells, in the order in which they were stored. */
export type Cells = ByteCells | ValueCells;

/**
 * A batch of about a thousand rows, stored by column. `cells[c]` holds column `columns[c]`. All batches in a run have
 * the same `columns` array (the same reference), so an encoder compiles only once. `rows` maps visible row numbers to
 * stored ones, and is all that a filter, a limit or a sort changes. Without it, visible row i is stored row i.
 */
export interface Batch {
  readonly columns: readonly Column[];
  readonly cells: readonly Cells[];
  /** Visible rows. */
  readonly length: number;
  /** The stored row for each visible row; at least `length` long. */
  readonly rows?: Int32Array;
}

/** A batch from JavaScript values, row by row: `rows[r][c]`. For sources that don't deliver bytes, and for tests. */
export function batchOf(columns: readonly Column[], rows: readonly (readonly Value[])[]): Batch {
  const cells = columns.map((_, c): ValueCells => ({ kind: 'values', values: rows.map((row) => row[c] ?? null) }));
  return { columns, cells, length: rows.length };
}

/** The stored row number of visible row `i`. */
export function storedRow(batch: Batch, i: number): number {
  return batch.rows === undefined ? i : batch.rows[i]!;
}

/** Canonical text of stored row `r`, or null. Decodes bytes; keeps lone surrogates in values. */
export function cellText(cells: Cells, type: ColumnType, r: number): string | null {
  if (cells.kind === 'values') return valueText(cells.values[r] ?? null, type);
  const at = 2 * (r * cells.stride + cells.slot);
  const start = cells.spans[at]!;
  return start < 0 ? null : decoded(cells.bytes, start, cells.spans[at + 1]!);
}

/**
 * Up to this many characters, which covers country codes, flags and short numbers, JavaScript concatenation is faster
 * than a native call.
 */
const shortText = 8;

function decoded(bytes: Buffer, start: number, end: number): string {
  if (end - start > shortText) return bytes.toString('utf8', start, end);
  let text = '';
  for (let p = start; p < end; p++) {
    const code = bytes[p]!;
    if (code > 0x7f) return bytes.toString('utf8', start, end);
    text += String.fromCharCode(code);
  }
  return text;
}

/** A value's canonical text. Numbers of type `integer` must be integers; see {@link ColumnType} for the table. */
export function valueText(value: Value, type: ColumnType): string | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value, type);
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
}

function numberText(value: number, type: ColumnType): string {
  if (Object.is(value, -0)) return type === 'float' ? '-0' : '0';
  if (type === 'integer' && Number.isInteger(value)) return BigInt(value).toString();
  return String(value);
}

/** All visible rows' cells as text, row by row. For previews and tests, never for the hot path. */
export function batchText(batch: Batch): (string | null)[][] {
  return Array.from({ length: batch.length }, (_, i) =>
    batch.columns.map((column, c) => cellText(batch.cells[c]!, column.type, storedRow(batch, i))),
  );
}
