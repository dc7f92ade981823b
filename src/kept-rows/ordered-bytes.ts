import { Problem } from '../lib/problem.ts';
import { cutText } from '../lib/redact.ts';
import type { ColumnType } from '../sdk/column.ts';
import { plainText } from '../sdk/cursor/cursor-value.ts';
import '../lib/temporal.ts';

/**
 * Converts canonical text to bytes that sort like the value, so that keys of every type can be compared as bytes.
 * Numbers sort by value, instants by instant, everything else by its UTF-8 bytes (which is code point order). The
 * encoding is self-delimiting, so values can be concatenated. Equal values have equal bytes: `1.50` and `1.5` are
 * encoded alike, and so are `11:00:00` and `11:00:00.000`.
 */
export type OrderedBytes = (text: string, into: Buffer, at: number) => number;

/** Maximum number of bytes that a string is converted to. */
export const maxOrderedBytes = (text: string): number => 6 * text.length + 16;

const byType: Readonly<Partial<Record<ColumnType, OrderedBytes>>> = {
  integer: integerBytes,
  decimal: decimalBytes,
  time: (text, into, at) => textBytes(plainText(text, 'time'), into, at),
  timestamp: timestampBytes,
  timestamptz: instantBytes,
};

/** The encoder for a type; undefined for types in which different strings can mean the same value. */
export function orderedBytes(type: ColumnType): OrderedBytes | undefined {
  return type === 'float' || type === 'json' ? undefined : (byType[type] ?? textBytes);
}

/** Writes a text and two zero bytes that mark its end. A zero byte inside the text is followed by 255. */
function textBytes(text: string, into: Buffer, at: number): number {
  let end = at + into.write(text, at, 'utf8');
  if (text.includes('\0')) end = escapeZeros(into, at, end);
  into[end] = 0;
  into[end + 1] = 0;
  return end + 2;
}

function escapeZeros(into: Buffer, start: number, end: number): number {
  const plain = Buffer.from(into.subarray(start, end));
  let at = start;
  for (const byte of plain) {
    into[at++] = byte;
    if (byte === 0) into[at++] = 255;
  }
  return at;
}

const maxSafeDigits = 15;
/**
 * The first byte encodes the number of magnitude bytes: counting up from here for positive numbers, down for negative
 * ones.
 */
const zeroLevel = 0x80;
const longNumber = 9;

function integerBytes(text: string, into: Buffer, at: number): number {
  const isNegative = text.charCodeAt(0) === 0x2d;
  const digits = isNegative ? text.length - 1 : text.length;
  if (digits > maxSafeDigits) return longInteger(text, isNegative, { into, at });
  let rest = wholeNumber(text, text.length - digits);
  let bytes = 0;
  for (let left = rest; left > 0; left = Math.floor(left / 256)) bytes++;
  into[at] = isNegative ? zeroLevel - bytes : zeroLevel + bytes;
  for (let i = bytes; i > 0; i--) {
    into[at + i] = isNegative ? 255 - (rest % 256) : rest % 256;
    rest = Math.floor(rest / 256);
  }
  return at + 1 + bytes;
}

/** The digits as a number; exact for the lengths used here. */
function wholeNumber(text: string, from: number): number {
  if (from === text.length) throw notCanonical('integer', text);
  let value = 0;
  for (let i = from; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) throw notCanonical('integer', text);
    value = value * 10 + digit;
  }
  return value;
}

/**
 * Writes an integer with more digits than a JavaScript number can represent: first the number of digits, then the
 * digits.
 */
function longInteger(text: string, isNegative: boolean, { into, at }: { into: Buffer; at: number }): number {
  const digits = isNegative ? text.slice(1) : text;
  if (!/^[1-9]\d*$/.test(digits)) throw notCanonical('integer', text);
  into[at] = isNegative ? zeroLevel - longNumber : zeroLevel + longNumber;
  into.writeUInt32BE(digits.length, at + 1);
  const end = at + 5 + into.write(digits, at + 5, 'latin1');
  if (isNegative) for (let i = at + 1; i < end; i++) into[i] = 255 - into[i]!;
  return end;
}

const decimalShape = /^(-?)0*(\d*?)(?:\.(\d*?)0*)?$/;

/**
 * Writes the sign, the exponent, and the digits without trailing zeros. NaN is the greatest value, as in PostgreSQL.
 */
function decimalBytes(text: string, into: Buffer, at: number): number {
  const special = ['-Infinity', 'Infinity', 'NaN'].indexOf(text);
  if (special >= 0) {
    into[at] = [0, 0xfe, 0xff][special]!;
    return at + 1;
  }
  const match = /^-?\d+(\.\d+)?$/.test(text) ? decimalShape.exec(text) : null;
  if (match === null) throw notCanonical('decimal', text);
  const [, sign, whole = '', fraction = ''] = match;
  const leading = whole === '' ? /^0*/.exec(fraction)![0].length : 0;
  const digits = (whole + fraction).slice(leading).replace(/0+$/, '');
  if (digits === '') {
    into[at] = zeroLevel;
    return at + 1;
  }
  into[at] = sign === '-' ? 1 : zeroLevel + 1;
  into.writeInt32BE((whole.length - leading) ^ 0x80000000, at + 1);
  let end = at + 5 + into.write(digits, at + 5, 'latin1');
  into[end++] = 0;
  if (sign === '-') for (let i = at + 1; i < end; i++) into[i] = 255 - into[i]!;
  return end;
}

/** Writes the instant in UTC without the Z, so that a time with a fraction sorts after the same time without one. */
function instantBytes(text: string, into: Buffer, at: number): number {
  return timestampBytes(utcText(text), into, at);
}

/** Looks for zeros to remove only in a text that may have some, because most don't. */
function timestampBytes(text: string, into: Buffer, at: number): number {
  const mayHaveZeros = text.endsWith('0') && text.includes('.');
  return textBytes(mayHaveZeros ? plainText(text, 'timestamp') : text, into, at);
}

/** Canonical text of an instant in UTC, without the zone. Returns invalid dates unchanged. */
export function utcText(text: string): string {
  if (text.endsWith('Z')) return text.slice(0, -1);
  try {
    return Temporal.Instant.from(text).toString().slice(0, -1);
  } catch {
    return text;
  }
}

function notCanonical(type: ColumnType, text: string): Problem {
  return new Problem({
    code: 'SET_VALUE',
    family: 'row',
    message: `The source declares this value as ${type}, but it is not a valid ${type}`,
    seen: JSON.stringify(cutText(text, 80)),
  });
}
