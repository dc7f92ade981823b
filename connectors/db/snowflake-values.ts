import type { Column, ColumnType, Value } from '#sdk';
import { brokenProtocol } from './broken-protocol.ts';
import { floatOf } from './float-text.ts';

/** A column in the description of a result. https://docs.snowflake.com/en/developer-guide/sql-api/reference */
export interface SnowflakeColumn {
  readonly name: string;
  readonly type: string;
  readonly scale?: number | null;
}

/** By the names that a result has. Types that aren't listed are text. */
const types: Readonly<Record<string, ColumnType>> = {
  fixed: 'decimal',
  decfloat: 'decimal',
  real: 'float',
  boolean: 'boolean',
  date: 'date',
  time: 'time',
  timestamp_ntz: 'timestamp',
  timestamp_ltz: 'timestamptz',
  timestamp_tz: 'timestamptz',
  binary: 'binary',
  variant: 'json',
  object: 'json',
  array: 'json',
  map: 'json',
  vector: 'json',
};

export function snowflakeColumn({ name, type, scale }: SnowflakeColumn): Column {
  const isInteger = type.toLowerCase() === 'fixed' && (scale ?? 0) === 0;
  return { name, type: isInteger ? 'integer' : (types[type.toLowerCase()] ?? 'text') };
}

/** Reads the texts of types whose texts aren't canonical. Times are seconds or days. */
const readers: Readonly<Record<string, (text: string, scale: number) => Value>> = {
  real: (text) => floatOf(text),
  decfloat: (text) => withoutExponent(text),
  date: (text) => new Date(Number(text) * dayMs).toISOString().slice(0, 10),
  time: (text, scale) => momentText(nanoseconds(text), scale).slice('1970-01-01T'.length),
  timestamp_ntz: (text, scale) => momentText(nanoseconds(text), scale),
  timestamp_ltz: (text, scale) => `${momentText(nanoseconds(text), scale)}Z`,
  timestamp_tz: (text, scale) => withOffset(text, scale),
  binary: (text) => Buffer.from(text, 'hex').toString('base64'),
  variant: (text) => strictJson(text),
  object: (text) => strictJson(text),
  array: (text) => strictJson(text),
  map: (text) => strictJson(text),
};

/** Strings, and words outside them that JSON doesn't have. */
const pieces = /"(?:[^"\\]|\\.)*"|\bundefined\b|-?\binf(?:inity)?\b|\bNaN\b/gi;

/** Snowflake writes SQL's null in an array as `undefined`. Infinite numbers become text. */
function strictJson(text: string): string {
  if (!/undefined|inf|nan/i.test(text)) return text;
  return text.replaceAll(pieces, (piece) => {
    if (piece.startsWith('"')) return piece;
    return piece.toLowerCase() === 'undefined' ? 'null' : JSON.stringify(String(floatOf(piece)));
  });
}

/**
 * A cell as a value.
 * https://docs.snowflake.com/en/developer-guide/sql-api/handling-responses#getting-the-data-from-the-results
 */
export function snowflakeValue({ type, scale }: SnowflakeColumn, text: string | null): Value {
  const read = readers[type.toLowerCase()];
  return text === null || read === undefined ? text : read(text, scale ?? 9);
}

const dayMs = 86_400_000;
const second = 1_000_000_000n;

/** A number of seconds with a fraction, in nanoseconds. */
function nanoseconds(text: string): bigint {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (whole === undefined) throw brokenProtocol('a time that cannot be read', text);
  const value = BigInt(whole) * second + BigInt(fraction.padEnd(9, '0'));
  return sign === '-' ? -value : value;
}

/** A wall-clock time from the nanoseconds since 1970, with as many digits of the fraction as the column has. */
function momentText(value: bigint, scale: number): string {
  const fraction = ((value % second) + second) % second;
  const seconds = new Date(Number((value - fraction) / 1_000_000n)).toISOString().slice(0, 19);
  return scale === 0 ? seconds : `${seconds}.${String(fraction).padStart(9, '0').slice(0, scale)}`;
}

/** The offset is in minutes, plus 1440. */
function withOffset(text: string, scale: number): string {
  const [seconds = '', shifted = '1440'] = text.split(' ');
  const minutes = Number(shifted) - 1440;
  const local = momentText(nanoseconds(seconds) + BigInt(minutes) * 60n * second, scale);
  const two = (value: number) => String(value).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${local}${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** A decimal without an exponent: `1.5e-3` is `0.0015`. */
function withoutExponent(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent] = /^(-?)(\d*)\.?(\d*)e([+-]?\d+)$/i.exec(text) ?? [];
  if (exponent === undefined) return text;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return `${sign}${digits.padEnd(point, '0')}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
