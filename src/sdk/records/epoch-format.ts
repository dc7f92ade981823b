import type { ColumnType } from '../column.ts';
import { canonicalText } from './canonical.ts';
import type { ValueFormat } from './value-format.ts';

/** Number of decimal places between seconds and the unit. */
const units: Readonly<Record<string, number>> = { epoch: 0, epoch_ms: 3, epoch_us: 6, epoch_ns: 9 };

/** The years 1 to 9999. */
const firstSecond = -62_135_596_800;
const lastSecond = 253_402_300_799;

/** Seconds, milliseconds, microseconds or nanoseconds since 1970 in UTC; undefined if it's a different format. */
export function parseEpochFormat(written: string, type: ColumnType): ValueFormat | string | undefined {
  if (!Object.hasOwn(units, written)) return undefined;
  if (type !== 'timestamptz') return 'is an instant: use type timestamptz';
  const places = units[written]!;
  return { written, read: (text) => instantOf(text.trim(), places) };
}

/**
 * The conversion is exact: the fraction keeps its digits. For times before 1970, the fraction counts from the previous
 * whole second.
 */
function instantOf(text: string, places: number): string | undefined {
  const exact = /^[+-]?\d+(?:\.\d+)?$/.test(text) ? canonicalText(`${text}e-${places}`, 'decimal') : undefined;
  if (exact === undefined) return undefined;
  const [whole, digits = ''] = exact.split('.') as [string, string?];
  const hasFraction = /[1-9]/.test(digits);
  const isBefore = exact.startsWith('-') && hasFraction;
  const second = Number(whole) - (isBefore ? 1 : 0);
  if (second < firstSecond || second > lastSecond) return undefined;
  const start = new Date(second * 1000).toISOString().slice(0, 19);
  const fraction = isBefore ? complement(digits) : digits;
  return `${start}${hasFraction ? `.${fraction}` : ''}Z`;
}

function complement(digits: string): string {
  return String(10n ** BigInt(digits.length) - BigInt(digits)).padStart(digits.length, '0');
}
