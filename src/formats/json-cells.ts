import { type CellWriter, cellWriter, type Escape, plain } from './cell-writer.ts';
import { escapeSet } from './copy-unescaped.ts';

const quote = 34;
const backslash = 92;
const hex = Buffer.from('0123456789abcdef');

/** For each byte: 0 = unchanged, 1 = `\u00XX`, otherwise the letter after the backslash. */
const escapes = new Uint8Array(256).fill(1, 0, 32);
for (const [byte, letter] of [
  [8, 'b'],
  [9, 't'],
  [10, 'n'],
  [12, 'f'],
  [13, 'r'],
  [quote, '"'],
  [backslash, '\\'],
] as const)
  escapes[byte] = letter.charCodeAt(0);

const escaped: Escape = (to, at, from, start, end) => {
  for (let p = start; p < end; p++) {
    const byte = from[p]!;
    const how = escapes[byte]!;
    if (how === 0) {
      to[at++] = byte;
      continue;
    }
    to[at++] = backslash;
    if (how > 1) to[at++] = how;
    else at = control(to, at, byte);
  }
  return at;
};

function control(to: Buffer, at: number, byte: number): number {
  to[at++] = 117;
  to[at++] = 48;
  to[at++] = 48;
  to[at++] = hex[byte >> 4]!;
  to[at++] = hex[byte & 15]!;
  return at;
}

/** Writes the content of a JSON string. The quotes belong to the column's frame. */
export const stringCells: CellWriter = cellWriter(escaped, escapeSet(0x20, [quote, backslash]));

/**
 * Writes decimals and floats. Digits are unchanged; `NaN`, `Infinity` and `-Infinity` are quoted, because JSON has no
 * such numbers.
 */
export const numberCells: CellWriter = {
  small: (to, at, from, start, end) =>
    (from[start] === 45 ? from[start + 1]! : from[start]!) > 57
      ? inQuotes(to, at, from, start, end)
      : plain.small(to, at, from, start, end),
  large: plain.large,
};

/** Writes integers as numbers if every reader can represent them exactly (up to 2^53-1), and otherwise as strings. */
export const safeIntegerCells: CellWriter = {
  small: (to, at, from, start, end) =>
    isSafe(from, start, end) ? plain.small(to, at, from, start, end) : inQuotes(to, at, from, start, end),
  large: (out, from, start, end) => {
    out.text('"');
    plain.large(out, from, start, end);
    out.text('"');
  },
};

const inQuotes: Escape = (to, at, from, start, end) => {
  to[at++] = quote;
  at = plain.small(to, at, from, start, end);
  to[at++] = quote;
  return at;
};

function isSafe(from: Buffer, start: number, end: number): boolean {
  if (end - start < 16) return true;
  return end - start <= 17 && Number.isSafeInteger(Number(from.toString('latin1', start, end)));
}
