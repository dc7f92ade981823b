import type { Column, ColumnType } from '../sdk/column.ts';
import { type CellWriter, plain } from './cell-writer.ts';
import { constant } from './constant.ts';
import { numberCells, safeIntegerCells, stringCells } from './json-cells.ts';
import { isInteger, isJson, isNumber } from './json-texts.ts';
import { writtenNames } from './names.ts';
import type { ColumnFrame } from './row-loop.ts';
import type { TextCheck } from './value-buffer.ts';

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
/** Canonical text has no quotes, backslashes or control characters, but a JavaScript value may contain some. */
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

/** The members of a row's object, without the braces. */
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
