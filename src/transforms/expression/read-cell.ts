import { type Cells, cellText } from '../../sdk/batch.ts';
import type { ColumnType } from '../../sdk/column.ts';
import { Decimal } from '../values/decimal.ts';
import { CellFault } from './cell-fault.ts';
import { parseJson } from './json-value.ts';

/** Reads a stored cell as a value of the expression language. Returns null if the cell is null. */
export type ReadCell = (cells: Cells, stored: number) => unknown;

/** Number of digits that a JavaScript number can always represent exactly. */
const safeDigits = 15;
const int64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

export const celTypes: Record<ColumnType, string> = {
  text: 'string',
  uuid: 'string',
  integer: 'int',
  decimal: 'Decimal',
  float: 'double',
  boolean: 'bool',
  date: 'string',
  time: 'string',
  timestamp: 'string',
  timestamptz: 'google.protobuf.Timestamp',
  json: 'dyn',
  binary: 'bytes',
};

/**
 * Returns the function that reads cells of this type. Short numbers are parsed from the bytes, without creating a
 * string.
 */
export function readerOf(type: ColumnType): ReadCell {
  if (type === 'integer') return readInteger;
  if (type === 'decimal') return readDecimal;
  const convert = converters[type];
  if (convert === undefined) return (cells, stored) => cellText(cells, type, stored);
  return (cells, stored) => {
    const text = cellText(cells, type, stored);
    return text === null ? null : convert(text);
  };
}

const converters: Partial<Record<ColumnType, (text: string) => unknown>> = {
  float: Number,
  boolean: (text) => text === 'true',
  timestamptz: instantOf,
  json: parseJson,
  binary: (text) => Buffer.from(text, 'base64'),
};

function readInteger(cells: Cells, stored: number): bigint | null {
  const short = shortNumber(cells, stored);
  if (short !== undefined && short.scale === 0) return BigInt(short.units);
  const text = cellText(cells, 'integer', stored);
  return text === null ? null : integerOf(text);
}

function integerOf(text: string): bigint {
  const value = BigInt(text);
  if (value < int64.least || value > int64.most)
    throw new CellFault('the integer exceeds 64 bits: cast the column to decimal first');
  return value;
}

function readDecimal(cells: Cells, stored: number): Decimal | null {
  const short = shortNumber(cells, stored);
  if (short !== undefined) return short;
  const text = cellText(cells, 'decimal', stored);
  if (text === null) return null;
  const value = Decimal.parse(text);
  if (value === undefined) throw new CellFault(`${text} is not a finite decimal`);
  return value;
}

/**
 * Parses a short number from a cell's bytes. Returns undefined if the cell has more than fifteen digits or more than
 * one decimal point.
 */
function shortNumber(cells: Cells, stored: number): Decimal | undefined {
  if (cells.kind !== 'bytes') return undefined;
  const { bytes, spans, stride, slot } = cells;
  const at = 2 * (stored * stride + slot);
  const start = spans[at]!;
  const end = spans[at + 1]!;
  if (start < 0 || end - start > safeDigits || end === start) return undefined;
  const negative = bytes[start] === 0x2d;
  let units = 0;
  let point = end;
  for (let i = negative ? start + 1 : start; i < end; i++) {
    const digit = bytes[i]! - 0x30;
    if (digit >= 0 && digit <= 9) units = units * 10 + digit;
    else if (bytes[i] === 0x2e && point === end) point = i + 1;
    else return undefined;
  }
  return new Decimal(negative ? 0 - units : units, end - point);
}

/** Converts an instant to a JavaScript date, which has millisecond precision. */
function instantOf(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new CellFault(`${text} is not an instant between the years 1 and 9999`);
  return date;
}
