import type { ColumnType } from '../../sdk/column.ts';
import { Decimal } from './decimal.ts';
import { epochSeconds, parseDateTime } from './instant.ts';

/** A key that sorts like its cell; null sorts last in both directions. */
export type SortKey = string | number | bigint | Decimal | null;

/** Creates sort keys from canonical strings. A string that isn't canonical for its type sorts after all that are. */
export function sortKeyOf(type: ColumnType): (text: string) => SortKey {
  switch (type) {
    case 'integer':
      return (text) => (text.length < 16 ? Number(text) : BigInt(text));
    case 'decimal':
      return decimalKey;
    case 'float':
      return Number;
    case 'boolean':
      return (text) => (text === 'true' ? 1 : 0);
    case 'date':
    case 'timestamp':
    case 'timestamptz':
      return instantKey;
    default:
      return (text) => text;
  }
}

/** Compares two keys of one column; null is greatest. NaN counts as greater than every number, as in PostgreSQL. */
export function compareKeys(a: SortKey, b: SortKey): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (a instanceof Decimal) return b instanceof Decimal ? a.compare(b) : -compareMixed(b, a);
  if (b instanceof Decimal) return compareMixed(a, b);
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (Number.isNaN(b)) return -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares by code point, which is the order of UTF-8 bytes. JavaScript compares UTF-16 code units. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return byCodePoint(left) - byCodePoint(right);
  }
  return a.length - b.length;
}

/** Surrogate pairs encode characters beyond U+FFFF, so they must sort after the range U+E000 to U+FFFF. */
function byCodePoint(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** NaN, Infinity and -Infinity in a decimal column are kept as numbers. */
function decimalKey(text: string): SortKey {
  return Decimal.parse(text) ?? Number(text);
}

/** Compares an infinity or NaN with a decimal. */
function compareMixed(a: string | number | bigint, _: Decimal): number {
  return a === Number.NEGATIVE_INFINITY ? -1 : 1;
}

function instantKey(text: string): SortKey {
  const found = parseDateTime(text);
  if (found === undefined) return text === '-infinity' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return BigInt(epochSeconds(found)) * 1_000_000_000n + BigInt(found.nanoseconds);
}
