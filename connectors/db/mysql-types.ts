import { Problem } from '#sdk';
import type { CellRewrite, CellType } from './cells.ts';
import { type BitField, bitType } from './mysql-bit.ts';

/** A field in MySQL's text protocol. mysql2's own type lacks some of these properties. */
export interface Field extends BitField {
  readonly columnType: number;
  readonly characterSet: number;
  readonly flags: number;
  /**
   * Type name from MariaDB's extended metadata, such as `uuid` or `inet6`. The server sends values of these types as
   * text.
   */
  readonly extendedTypeName?: string;
  /** Format name from MariaDB's extended metadata: `json` for a `JSON` column, whose type is an alias of longtext. */
  readonly extendedFormat?: string;
}

/** How to handle dates such as `0000-00-00`. */
export type ZeroDates = 'refuse' | 'null';

const zerofill = 64;
const binaryCharset = 63;
const ZERO = 0x30;
const T = 0x54;
const Z = 0x5a;

const monthDays = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether the text starts with a valid date. */
function isDay(bytes: Buffer, start: number): boolean {
  const two = (at: number) => 10 * (bytes[start + at]! - ZERO) + bytes[start + at + 1]! - ZERO;
  const [month, day] = [two(5), two(8)];
  if (day === 0 || day > monthDays[month]!) return false;
  if (day < 29 || month !== 2) return true;
  const year = 100 * two(0) + two(2);
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/**
 * MySQL can store invalid dates, such as 30 February or a date whose month or day is 00. Returns true if this function
 * handled an invalid date.
 */
function isNoDate(bytes: Buffer, spans: Int32Array, at: number, zeroDates: ZeroDates): boolean {
  const start = spans[at]!;
  if (isDay(bytes, start)) return false;
  if (zeroDates === 'refuse') throw noSuchDate(bytes.toString('latin1', start, spans[at + 1]));
  spans[at] = -1;
  spans[at + 1] = -1;
  return true;
}

function noSuchDate(seen: string): Problem {
  return new Problem({
    code: 'DB_NO_SUCH_DATE',
    family: 'row',
    message: 'the database contains an invalid date',
    seen,
    next: 'set zero_dates: null on the source, or convert the column to text in the query: cast(… as char)',
  });
}

function date(zeroDates: ZeroDates): CellRewrite {
  return { how: 'in place', fix: (bytes, spans, at) => void isNoDate(bytes, spans, at, zeroDates) };
}

/** Converts `2024-01-01 00:00:00` to `2024-01-01T00:00:00`. */
function datetime(zeroDates: ZeroDates): CellRewrite {
  return {
    how: 'in place',
    fix(bytes, spans, at) {
      if (!isNoDate(bytes, spans, at, zeroDates)) bytes[spans[at]! + 10] = T;
    },
  };
}

/**
 * Converts `2024-01-01 00:00:00` to `2024-01-01T00:00:00Z`, because the session's time zone is UTC. To make room for
 * the Z, moves the text one byte to the left, over its length byte.
 */
function timestamp(zeroDates: ZeroDates): CellRewrite {
  return {
    how: 'in place',
    fix(bytes, spans, at) {
      if (isNoDate(bytes, spans, at, zeroDates)) return;
      const start = spans[at]! - 1;
      const last = spans[at + 1]! - 1;
      for (let i = start; i < last; i++) bytes[i] = bytes[i + 1]!;
      bytes[start + 10] = T;
      bytes[last] = Z;
      spans[at] = start;
    },
  };
}

/** YEAR is the only integer type whose values MySQL sends with leading zeros: `0000`. */
const year: CellRewrite = {
  how: 'in place',
  fix(bytes, spans, at) {
    const last = spans[at + 1]! - 1;
    while (spans[at]! < last && bytes[spans[at]!] === ZERO) spans[at] = spans[at]! + 1;
  },
};

const base64: CellRewrite = { how: 'rewrite', text: (bytes, start, end) => bytes.toString('base64', start, end) };

/** https://mariadb.com/kb/en/result-set-packets/#field-types */
export function mysqlType(field: Field, zeroDates: ZeroDates): CellType {
  const { columnType, flags, extendedFormat, extendedTypeName } = field;
  if (extendedFormat === 'json') return { type: 'json' };
  if (extendedTypeName === 'uuid') return { type: 'uuid' };
  if (extendedTypeName === 'inet4' || extendedTypeName === 'inet6') return { type: 'text' };
  // ZEROFILL is a display format, so the table's owner wants to see the leading zeros.
  if ((flags & zerofill) !== 0 && columnType !== 13) return { type: 'text' };
  switch (columnType) {
    case 1:
    case 2:
    case 3:
    case 8:
    case 9:
      return { type: 'integer' };
    case 4:
    case 5:
      return { type: 'float' };
    case 0:
    case 246:
      return { type: 'decimal' };
    case 7:
      return { type: 'timestamptz', fix: timestamp(zeroDates) };
    case 10:
    case 14:
      return { type: 'date', fix: date(zeroDates) };
    case 11:
      return { type: 'time' };
    case 12:
      return { type: 'timestamp', fix: datetime(zeroDates) };
    case 13:
      return { type: 'integer', fix: year };
    case 16:
      return bitType(field);
    case 245:
      return { type: 'json' };
    default:
      return stringType(field);
  }
}

/** Text, blobs and unknown types. A field with the character set `binary` contains bytes; other fields contain text. */
function stringType({ columnType, characterSet }: Field): CellType {
  const isNull = columnType === 6;
  return characterSet === binaryCharset && !isNull ? { type: 'binary', fix: base64 } : { type: 'text' };
}
