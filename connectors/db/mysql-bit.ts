import { Problem } from '#sdk';
import type { CellType } from './cells.ts';

export interface BitField {
  readonly name: string;
  /** The width in bits. */
  readonly columnLength: number;
  /** The database of the field's table; empty if the field's value is computed. */
  readonly schema: string;
}

/**
 * Up to this width, every raw byte is less than the byte of the digit 0, so raw bytes can't be confused with digits.
 */
const maxSafeBits = 5;
const zero = 0x30;
const nine = 0x39;

/**
 * The server sends a BIT column as raw bytes. It sends a computed BIT value, as in `max(flag)`, as raw bytes or as
 * decimal digits, depending on the function, the plan and the version. The field's metadata doesn't say which. From six
 * bits on, a byte is ambiguous: 0x31 could be the value 49 or the digit 1.
 */
export function bitType({ name, columnLength, schema }: BitField): CellType {
  if (columnLength <= maxSafeBits)
    return { type: 'integer', fix: { how: 'rewrite', text: narrowText(name, columnLength) } };
  if (schema === '') throw ambiguous(name);
  return { type: 'integer', fix: { how: 'rewrite', text: rawText } };
}

function rawText(bytes: Buffer, start: number, end: number): string {
  return BigInt(`0x0${bytes.toString('hex', start, end)}`).toString();
}

function narrowText(name: string, width: number): (bytes: Buffer, start: number, end: number) => string {
  return (bytes, start, end) => {
    const seen = bytes.subarray(start, end);
    const value = seen.length === 1 && seen[0]! < zero ? seen[0]! : numberOf(seen);
    if (value < 2 ** width) return String(value);
    throw ambiguous(name, seen);
  };
}

/** The number that these decimal digits represent; NaN if any byte isn't a digit. */
function numberOf(digits: Buffer): number {
  const areDigits = digits.length > 0 && digits.every((byte) => byte >= zero && byte <= nine);
  return areDigits ? Number(digits.toString('latin1')) : Number.NaN;
}

function ambiguous(name: string, seen?: Buffer): Problem {
  return new Problem({
    code: 'DB_AMBIGUOUS_BIT',
    family: 'job',
    message: `ambiguous BIT value: the server does not declare whether it sends computed column ${JSON.stringify(name)} as bytes or digits`,
    where: { column: name },
    seen: seen === undefined ? undefined : `0x${seen.toString('hex')}`,
    allowed: `a table's BIT columns, and computed BIT values of at most ${maxSafeBits} bits`,
    next: `convert it to a number in the query: (…) + 0 as ${name}`,
  });
}
