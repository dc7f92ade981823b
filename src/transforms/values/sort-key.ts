import type { ColumnType } from '../../sdk/column.ts';
import { Decimal } from './decimal.ts';
import { epochSeconds, parseDateTime } from './instant.ts';

/** A key that represents a cell when rows are sorted. Null keys are last in both sort directions. */
export type SortKey = string | number | bigint | Decimal | null;

/**
 * Returns a function that creates sort keys from the cells of a column, which are in the type's canonical form.
 */
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

/**
 * Compares two keys of the same column. Null is greater than every other key. As in PostgreSQL, NaN is greater than
 * every number.
 */
export function compareKeys(a: SortKey, b: SortKey): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (a instanceof Decimal) return b instanceof Decimal ? a.compare(b) : -compareMixed(b, a);
  if (b instanceof Decimal) return compareMixed(a, b);
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (Number.isNaN(b)) return -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Compares strings by code point, which gives the same order as comparing their UTF-8 bytes. JavaScript's own
 * comparison uses UTF-16 code units.
 */
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

/** Returns the key of a decimal. NaN, Infinity and -Infinity become numbers. */
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
