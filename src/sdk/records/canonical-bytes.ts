import type { ColumnType } from '../column.ts';

type Test = (bytes: Buffer, start: number, end: number) => boolean;

/**
 * Fast byte-level tests for a type's canonical text. Each test covers only the common form: true means that the text is
 * canonical, and false means that a full check is needed. Types without a test always get the full check.
 */
export const surelyCanonical: Partial<Record<ColumnType, Test>> = {
  text: () => true,
  integer: (bytes, start, end) => start < end && wholeEnd(bytes, start, end) === end && !isMinusZero(bytes, start),
  decimal: (bytes, start, end) => {
    const point = wholeEnd(bytes, start, end);
    if (point === start) return false;
    return point === end || (bytes[point] === 46 && point + 1 < end && digitsEnd(bytes, point + 1, end) === end);
  },
  date: (bytes, start, end) => end - start === 10 && isDate(bytes, start),
  timestamp: (bytes, start, end) =>
    end - start >= 19 && isDate(bytes, start) && clockEnd(bytes, start + 10, end) === end,
  timestamptz: (bytes, start, end) => {
    if (end - start < 20 || !isDate(bytes, start)) return false;
    const zone = clockEnd(bytes, start + 10, end);
    return zone > 0 && zone + 1 === end && bytes[zone] === 90;
  },
};

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}

function digitsEnd(bytes: Buffer, from: number, end: number): number {
  while (from < end && isDigit(bytes[from])) from++;
  return from;
}

/** Position after `-?digits` without leading zeros; `start` if there are none. */
function wholeEnd(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start] === 45 ? start + 1 : start;
  const last = digitsEnd(bytes, first, end);
  return last === first || (bytes[first] === 48 && last - first > 1) ? start : last;
}

function isMinusZero(bytes: Buffer, start: number): boolean {
  return bytes[start] === 45 && bytes[start + 1] === 48;
}

/** `YYYY-MM-DD` with a day up to 28, which every month has. Requires ten bytes. */
function isDate(bytes: Buffer, at: number): boolean {
  for (const place of [0, 1, 2, 3, 5, 6, 8, 9]) if (!isDigit(bytes[at + place])) return false;
  if (bytes[at + 4] !== 45 || bytes[at + 7] !== 45) return false;
  const month = two(bytes, at + 5);
  const day = two(bytes, at + 8);
  return month >= 1 && month <= 12 && day >= 1 && day <= 28;
}

/** Position after `THH:MM:SS[.digits]`; 0 if the bytes don't match. */
function clockEnd(bytes: Buffer, at: number, end: number): number {
  if (at + 9 > end || bytes[at] !== 84 || bytes[at + 3] !== 58 || bytes[at + 6] !== 58) return 0;
  for (const place of [1, 2, 4, 5, 7, 8]) if (!isDigit(bytes[at + place])) return 0;
  if (two(bytes, at + 1) > 23 || two(bytes, at + 4) > 59 || two(bytes, at + 7) > 59) return 0;
  if (bytes[at + 9] !== 46 || at + 9 >= end) return at + 9;
  const last = digitsEnd(bytes, at + 10, end);
  return last === at + 10 ? 0 : last;
}

function two(bytes: Buffer, at: number): number {
  return (bytes[at]! - 48) * 10 + bytes[at + 1]! - 48;
}
