import type { Column, ColumnType } from '../sdk/column.ts';
import { type CellWriter, plain } from './cell-writer.ts';
import { constant } from './constant.ts';
import { numberCells, safeIntegerCells, stringCells } from './json-cells.ts';
import { writtenNames } from './names.ts';
import type { ColumnFrame } from './row-loop.ts';
import type { TextCheck } from './value-buffer.ts';

/** Whether a string is an integer in JSON syntax: no plus sign, no leading zeros. */
function isInteger(text: string): boolean {
  const start = text.charCodeAt(0) === 45 ? 1 : 0;
  const end = digitsEnd(text, start);
  return end > start && end === text.length && (end === start + 1 || text.charCodeAt(start) !== 48);
}

/** Whether a string is a JSON number, or one of the three values that JSON can't represent. */
function isNumber(text: string): boolean {
  if (isInteger(text)) return true;
  const start = text.charCodeAt(0) === 45 ? 1 : 0;
  const point = digitsEnd(text, start);
  if (text.charCodeAt(point) !== 46) return otherNumber.test(text);
  const leadingZero = point > start + 1 && text.charCodeAt(start) === 48;
  const end = digitsEnd(text, point + 1);
  if (point === start || leadingZero || end === point + 1) return false;
  return end === text.length || otherNumber.test(text);
}

/**
 * Matches numbers with an exponent and non-finite numbers. They're so rare that a regular expression is fast enough.
 */
const otherNumber = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?[eE][-+]?[0-9]+$|^(NaN|-?Infinity)$/;

function digitsEnd(text: string, start: number): number {
  let k = start;
  for (; k < text.length; k++) {
    const code = text.charCodeAt(k);
    if (code < 48 || code > 57) break;
  }
  return k;
}

/** Whether a string is exactly one JSON value. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** How to write numbers that a 64-bit float can't represent. */
export type ExactNumbers = 'number' | 'string';

/** How a column type is encoded: the writer for its cells, whether they're quoted, and how values are checked. */
interface Kind {
  readonly writer: CellWriter;
  readonly valueWriter?: CellWriter;
  readonly quoted: boolean;
  readonly check?: TextCheck;
}

const text: Kind = { writer: stringCells, quoted: true };
/**
 * For types whose canonical text has no quotes, backslashes or control characters. A JavaScript value may contain some,
 * so it's written by a different writer.
 */
const vouched: Kind = { writer: plain, valueWriter: stringCells, quoted: true };
const number: Kind = { writer: numberCells, quoted: false, check: isNumber };
const integer = { quoted: false, check: isInteger };

const kinds: Record<ColumnType, (exact: ExactNumbers) => Kind> = {
  text: () => text,
  uuid: () => vouched,
  integer: (exact) => ({ ...integer, writer: exact === 'string' ? safeIntegerCells : plain }),
  decimal: (exact) => (exact === 'string' ? { ...number, writer: plain, quoted: true } : number),
  float: () => number,
  boolean: () => ({ writer: plain, quoted: false, check: (given) => given === 'true' || given === 'false' }),
  date: () => vouched,
  time: () => vouched,
  timestamp: () => vouched,
  timestamptz: () => vouched,
  json: () => ({ writer: plain, quoted: false, check: isJson }),
  binary: () => vouched,
};

/** Returns a frame for each member of a row's object. The object's braces aren't included. */
export function memberFrames(columns: readonly Column[], exact: ExactNumbers): ColumnFrame[] {
  const names = writtenNames(columns, 'a JSON object', (name) => name.toWellFormed());
  return columns.map(({ type }, c) => frame(`${c === 0 ? '' : ','}${JSON.stringify(names[c])}:`, kinds[type](exact)));
}

function frame(name: string, kind: Kind): ColumnFrame {
  const mark = kind.quoted ? '"' : '';
  return {
    before: constant(name + mark),
    after: constant(mark),
    absent: constant(`${name}null`),
    writer: kind.writer,
    valueWriter: kind.valueWriter ?? kind.writer,
    check: kind.check,
  };
}
