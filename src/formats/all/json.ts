import type { Column, ColumnType } from '../../sdk/column.ts';
import type { OptionValues } from '../../sdk/option.ts';
import { option } from '../../sdk/option.ts';
import type { CellWriter } from '../cell-writer.ts';
import { plain } from '../cell-writer.ts';
import { constant } from '../constant.ts';
import { defineFormat } from '../format.ts';
import { numberCells, safeIntegerCells, stringCells } from '../json-cells.ts';
import { isInteger, isJson, isNumber } from '../json-texts.ts';
import { writtenNames } from '../names.ts';
import type { Framing } from '../row-encoder.ts';
import { RowEncoder } from '../row-encoder.ts';
import type { ColumnFrame } from '../row-loop.ts';
import type { TextCheck } from '../value-buffer.ts';

const options = {
  exact_numbers: option.choice(['number', 'string'], {
    about:
      'How numbers that a 64-bit float cannot hold are written: as JSON numbers with all their digits, or integers beyond 2^53-1 and all decimals as strings.',
    default: 'number',
  }),
};

type Exact = OptionValues<typeof options>['exact_numbers'];

/** Encoding of a column type: the writer of its cells, whether they are quoted, and the check of values. */
interface Kind {
  readonly writer: CellWriter;
  readonly valueWriter?: CellWriter;
  readonly quoted: boolean;
  readonly check?: TextCheck;
}

const text: Kind = { writer: stringCells, quoted: true };
/** Canonical text without quotes, backslashes and control characters; a value might still be anything. */
const vouched: Kind = { writer: plain, valueWriter: stringCells, quoted: true };
const number: Kind = { writer: numberCells, quoted: false, check: isNumber };
const integer = { quoted: false, check: isInteger };

const kinds: Record<ColumnType, (exact: Exact) => Kind> = {
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

/** An array of objects, one on a line. Members stand in the order of the columns; null is `null`. */
export default defineFormat({
  id: 'json',
  title: 'JSON',
  summary: 'An array of objects (RFC 8259), one on a line; numbers keep all their digits.',
  mediaType: 'application/json; charset=utf-8',
  fileEnding: '.json',
  options,
  isForDatasources: true,
  readBack: () => ({ format: 'json' }),
  encoder: (columns, given) => new RowEncoder(framing(columns, given.exact_numbers)),
});

function framing(columns: readonly Column[], exact: Exact): Framing {
  const names = writtenNames(columns, 'a JSON object', (name) => name.toWellFormed());
  return {
    columns,
    frames: columns.map(({ type }, c) =>
      frame(`${c === 0 ? '' : ','}${JSON.stringify(names[c])}:`, kinds[type](exact)),
    ),
    begin: constant(''),
    firstLead: constant('[\n{'),
    lead: constant(',\n{'),
    tail: constant('}'),
    end: constant('\n]\n'),
    endEmpty: constant('[]\n'),
  };
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
