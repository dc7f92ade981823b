import { canonicalText } from './canonical.ts';

/** Kinds of cells in a sheet. */
export type CellKind = 'integer' | 'decimal' | 'boolean' | 'date' | 'time' | 'timestamp' | 'text';

/** A parsed cell. `error`: an error value such as `#N/A`; `uncalculated`: a formula whose value was never saved. */
export interface SheetCell {
  readonly kind: CellKind | 'error' | 'uncalculated';
  /** The value as canonical text of its kind, the name of an error, or the text of a formula. */
  readonly text: string;
}

/** The meaning that a number format gives to a number; everything else only affects the display. */
export type NumberStyle = 'number' | 'date' | 'time' | 'datetime';

/** The narrowest kind that can represent cells of both kinds. */
export function joined(a: CellKind, b: CellKind): CellKind {
  if (a === b) return a;
  const both = new Set([a, b]);
  if (both.has('integer') && both.has('decimal')) return 'decimal';
  if (both.has('date') && both.has('timestamp')) return 'timestamp';
  return 'text';
}

/** Built-in formats for dates and times (ECMA-376 part 1, 18.8.30), including those for East Asian languages. */
const builtIn = new Map<number, NumberStyle>([
  ...[14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, 'date'] as const),
  ...[18, 19, 20, 21, 32, 33, 34, 35, 45, 47, 55, 56].map((id) => [id, 'time'] as const),
  [22, 'datetime'],
]);

/** The meaning of a number format, by ID or custom code. Durations (`[h]:mm`) are numbers. */
export function styleOf(id: number, code: string | undefined): NumberStyle {
  if (code === undefined) return builtIn.get(id) ?? 'number';
  const bare = code
    .split(';')[0]!
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .toLowerCase();
  if (/\[(?:h+|m+|s+)\]/.test(bare)) return 'number';
  const letters = bare.replace(/\[[^\]]*\]/g, '').replace(/am\/pm|a\/p|general/g, '');
  const hasDay = /[dy]/.test(letters);
  const hasClock = /[hs]/.test(letters);
  if (hasDay) return hasClock ? 'datetime' : 'date';
  if (hasClock) return 'time';
  return /m/.test(letters) ? 'date' : 'number';
}

const dayMs = 86_400_000;

/**
 * Converts a number cell. A number with a fraction and more than 15 digits is a double printed in full. It's shortened
 * to the fewest digits that give the same double, because these are the digits that the user typed. Trailing zeros of a
 * fraction depend on the program that wrote the file (Apache POI writes `1.0`), not on the value, and are dropped. All
 * other digits are kept.
 */
export function numberCell(written: string, style: NumberStyle, from1904: boolean): SheetCell {
  const number = Number(written);
  if (written.trim() === '' || !Number.isFinite(number)) return { kind: 'text', text: written };
  if (style !== 'number') {
    const moment = momentCell(number, style, from1904);
    if (moment !== undefined) return moment;
  }
  const digits = written.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '').length;
  const isBinary = /[.e]/i.test(written) && digits > 15 && digits <= 17;
  const exact = canonicalText(isBinary ? String(number) : written, 'decimal') ?? written;
  const text = exact.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
  return { kind: /^-?\d+$/.test(text) ? 'integer' : 'decimal', text: text === '-0' ? '0' : text };
}

/**
 * Converts a day number to a date. Day 60 of the 1900 system is February 29, 1900, which never existed, so earlier days
 * are counted from one day later (ECMA-376 part 1, 18.17.4.1). Times are rounded to milliseconds, the precision of a
 * day number as a double.
 */
function momentCell(serial: number, style: NumberStyle, from1904: boolean): SheetCell | undefined {
  if (serial < 0 || serial >= 2_958_466 || (!from1904 && Math.floor(serial) === 60)) return undefined;
  const epoch = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, serial < 60 ? 31 : 30);
  const ms = Math.round(serial * dayMs);
  const [date, clock] = new Date(epoch + ms).toISOString().slice(0, -1).split('T') as [string, string];
  const time = clock.replace(/\.?0{3}$/, '');
  if (style === 'time' && ms < dayMs) return { kind: 'time', text: time };
  if (style === 'date' && ms % dayMs === 0) return { kind: 'date', text: date };
  return { kind: 'timestamp', text: `${date}T${time}` };
}

/** Converts a cell of type `d`, which contains a date as ISO 8601 text. */
export function isoCell(text: string): SheetCell {
  const bare = text.replace(/Z$/, '');
  const date = canonicalText(bare, 'date');
  if (date !== undefined) return { kind: 'date', text: date };
  const timestamp = canonicalText(bare, 'timestamp');
  return timestamp === undefined ? { kind: 'text', text } : { kind: 'timestamp', text: timestamp };
}
