import { Problem } from '#sdk';
import type { CellType } from './cells.ts';
import { arrayReader } from './postgres-array.ts';

const SPACE = 0x20;
const T = 0x54;
const Z = 0x5a;
const PLUS = 0x2b;
const ZERO = 0x30;

/** Converts `2024-01-01 00:00:00` to `2024-01-01T00:00:00`. `infinity` and years BC stay unchanged. */
function timestamp(bytes: Buffer, spans: Int32Array, at: number): void {
  const start = spans[at]!;
  const end = spans[at + 1]!;
  if (!isClock(bytes, end)) return;
  for (let i = start + 10; i < end; i++) {
    if (bytes[i] !== SPACE) continue;
    bytes[i] = T;
    return;
  }
}

/** Only infinities and years BC end in a letter. */
function isClock(bytes: Buffer, end: number): boolean {
  const last = bytes[end - 1]!;
  return last >= 0x30 && last <= 0x39;
}

/**
 * Converts `2024-01-01 00:00:00+00` to `2024-01-01T00:00:00Z`. The session's time zone is UTC, so PostgreSQL writes no
 * other offset. Another server that uses PostgreSQL's protocol may have ignored the time zone setting.
 */
function timestamptz(bytes: Buffer, spans: Int32Array, at: number): void {
  const end = spans[at + 1]!;
  if (!isClock(bytes, end)) return;
  if (bytes[end - 3] !== PLUS || bytes[end - 2] !== ZERO || bytes[end - 1] !== ZERO) {
    throw otherForm('timestamptz', 'a time in UTC that ends in +00');
  }
  timestamp(bytes, spans, at);
  bytes[end - 3] = Z;
  spans[at + 1] = end - 2;
}

/** Converts `04:05:06+02` to `04:05:06+02:00`. */
function timetz(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('latin1', start, end);
  return /[+-]\d\d$/.test(text) ? `${text}:00` : text;
}

const BACKSLASH = 0x5c;
const X = 0x78;
const hexForm = '\\x followed by pairs of hexadecimal digits';
const base64 = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
/** A number greater than any byte. All numbers that are computed from it are also greater than any byte. */
const noDigit = 0x1000;
const hex = new Uint16Array(256).fill(noDigit);
for (let digit = 0; digit < 16; digit++) hex[digit.toString(16).charCodeAt(0)] = digit;

/**
 * Converts `\x686921` to `aGkh` in place. Base64 is always shorter than hex, so the write position never overtakes the
 * read position.
 */
function bytea(bytes: Buffer, spans: Int32Array, at: number): void {
  const start = spans[at]!;
  const end = spans[at + 1]!;
  const isHex = bytes[start] === BACKSLASH && bytes[start + 1] === X && (end - start) % 2 === 0;
  if (!isHex) throw otherForm('bytea', hexForm);
  let seen = 0;
  const byteAt = (i: number) => {
    const byte = (hex[bytes[i]!]! << 4) | hex[bytes[i + 1]!]!;
    seen |= byte;
    return byte;
  };
  let o = start;
  let i = start + 2;
  for (; i + 6 <= end; i += 6) {
    const three = (byteAt(i) << 16) | (byteAt(i + 2) << 8) | byteAt(i + 4);
    bytes[o++] = base64[three >> 18]!;
    bytes[o++] = base64[(three >> 12) & 63]!;
    bytes[o++] = base64[(three >> 6) & 63]!;
    bytes[o++] = base64[three & 63]!;
  }
  const left = (end - i) / 2;
  if (left > 0) {
    const three = (byteAt(i) << 16) | (left === 2 ? byteAt(i + 2) << 8 : 0);
    bytes[o++] = base64[three >> 18]!;
    bytes[o++] = base64[(three >> 12) & 63]!;
    bytes[o++] = left === 2 ? base64[(three >> 6) & 63]! : 0x3d;
    bytes[o++] = 0x3d;
  }
  if (seen >= noDigit) throw otherForm('bytea', hexForm);
  spans[at + 1] = o;
}

const TRUE = 0x74;
const FALSE = 0x66;

function isTrue(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start];
  if (end - start !== 1 || (first !== TRUE && first !== FALSE)) throw otherForm('boolean', 't or f');
  return first === TRUE;
}

/**
 * This server uses PostgreSQL's protocol but isn't PostgreSQL. A guess at its types could silently produce wrong
 * values.
 */
function otherForm(type: string, allowed: string): Problem {
  return new Problem({
    code: 'DB_VALUE_FORM',
    family: 'job',
    message: `the server returns values of type ${type} in a format that PostgreSQL does not use`,
    allowed,
    next: 'cast the column to text in the query',
  });
}

const boolean: CellType = {
  type: 'boolean',
  fix: { how: 'boolean', isTrue },
};
const text: CellType = { type: 'text' };

/**
 * Fixed object IDs from pg_type.dat. Arrays and user-defined types aren't listed here, because they're looked up on the
 * server.
 */
const scalars: ReadonlyMap<number, CellType> = new Map<number, CellType>([
  [16, boolean],
  [17, { type: 'binary', fix: { how: 'in place', fix: bytea } }],
  [20, { type: 'integer' }],
  [21, { type: 'integer' }],
  [23, { type: 'integer' }],
  [26, { type: 'integer' }],
  [114, { type: 'json' }],
  [3802, { type: 'json' }],
  [700, { type: 'float' }],
  [701, { type: 'float' }],
  [1700, { type: 'decimal' }],
  [1082, { type: 'date' }],
  [1083, { type: 'time' }],
  [1266, { type: 'time', fix: { how: 'rewrite', text: timetz } }],
  [1114, { type: 'timestamp', fix: { how: 'in place', fix: timestamp } }],
  [1184, { type: 'timestamptz', fix: { how: 'in place', fix: timestamptz } }],
  [2950, { type: 'uuid' }],
  // "char", name, text, char(n), varchar, money, interval, bit and bit varying. These types become text without a
  // catalog lookup.
  ...[18, 19, 25, 1042, 1043, 790, 1186, 1560, 1562].map((oid): [number, CellType] => [oid, text]),
]);

/** One row of pg_type, see {@link typeQuery}. */
export interface TypeRow {
  readonly oid: number;
  /** The element type of an array or the base type of a domain; 0 for other types. */
  readonly inner: number;
  readonly is_array: boolean;
  /** The delimiter between the elements of an array of this type. */
  readonly delimiter: string;
}

/**
 * Types by object ID, with their element types and base types. `$1` is a list of object IDs. int2vector and oidvector
 * have elements too, but they aren't sent as arrays; only array_in reads `{…}`.
 */
export const typeQuery = `
  with recursive need (oid) as (
    select pg_catalog.unnest($1::pg_catalog.oid[])
    union
    select case t.typtype when 'd' then t.typbasetype else t.typelem end
    from need join pg_catalog.pg_type t on t.oid = need.oid
    where t.typtype = 'd' or t.typinput = 'pg_catalog.array_in'::pg_catalog.regproc
  )
  select t.oid::pg_catalog.int8::pg_catalog.text as oid,
    (case t.typtype when 'd' then t.typbasetype else t.typelem end)::pg_catalog.int8::pg_catalog.text as inner,
    t.typinput = 'pg_catalog.array_in'::pg_catalog.regproc as is_array, t.typdelim::pg_catalog.text as delimiter
  from need join pg_catalog.pg_type t on t.oid = need.oid
  where t.typtype = 'd' or t.typinput = 'pg_catalog.array_in'::pg_catalog.regproc or t.typdelim <> ','`;

/** Whether this type requires a catalog lookup. */
export function isUnknown(oid: number): boolean {
  return !scalars.has(oid);
}

/** The column type; `catalog` contains the types that were looked up. Unknown types become text. */
export function typeOf(oid: number, catalog: ReadonlyMap<number, TypeRow>): CellType {
  const known = scalars.get(oid);
  if (known !== undefined) return known;
  const row = catalog.get(oid);
  if (row === undefined || row.inner === 0) return text;
  const inner = typeOf(row.inner, catalog);
  if (!row.is_array) return inner;
  const delimiter = catalog.get(row.inner)?.delimiter ?? ',';
  return { type: 'json', fix: { how: 'rewrite', text: arrayReader(inner, delimiter) } };
}
