import { loneSurrogate } from '../../lib/replaced-characters.ts';
import type { Column, ColumnType } from '../../sdk/column.ts';
import { type OptionValues, option } from '../../sdk/option.ts';
import { type CellWriter, plain } from '../cell-writer.ts';
import { constant } from '../constant.ts';
import { csvCells, formulasEscaped, formulaUnescaped, isFormula, separators } from '../csv-cells.ts';
import { defineFormat } from '../format.ts';
import { writtenNames } from '../names.ts';
import { type Framing, RowEncoder } from '../row-encoder.ts';
import type { ColumnFrame } from '../row-loop.ts';

const options = {
  delimiter: option.choice([',', ';', '\t', '|'], {
    about: 'The character between two fields. The service detects the delimiter in the first line.',
    default: ',',
  }),
  header: option.boolean({ about: 'Whether the first line contains the column names.', default: true }),
  line_end: option.choice(['lf', 'crlf'], { about: 'How a line ends.', default: 'lf' }),
  null_text: option.text({
    about:
      'String written for a missing value, without quotes. An empty string is written as "", so the two remain distinct.',
    default: '',
    pattern: '^[^",;|\\t\\r\\n ]*$',
  }),
  formulas: option.choice(['keep', 'escape'], {
    about:
      'Whether to keep text that a spreadsheet treats as a formula (=cmd, +1+2, @SUM) or to escape it with an apostrophe. Escape it if people open the CSV file in a spreadsheet; keep it if programs compare the values.',
    default: 'keep',
  }),
  bom: option.boolean({
    about: 'Whether the file starts with a UTF-8 byte order mark, which Excel requires to read the text as UTF-8.',
    default: false,
  }),
};

/**
 * The first byte of a byte order mark. At the start of a document without a header, a reader would skip one that
 * belongs to the data.
 */
const markStart = '\u00ef';

type CsvOptions = OptionValues<typeof options>;

/** Types whose canonical text never needs quotes with any of the four delimiters. */
const neverQuoted: ReadonlySet<ColumnType> = new Set<ColumnType>([
  'uuid',
  'integer',
  'decimal',
  'float',
  'boolean',
  'date',
  'time',
  'timestamp',
  'timestamptz',
]);

/**
 * CSV according to RFC 4180, in UTF-8. Readers can always detect the delimiter in the first line, because cells there
 * that contain any of the four delimiters are quoted. The first line is the header or, without one, the first row.
 */
export default defineFormat({
  id: 'csv',
  title: 'CSV',
  summary: 'Comma-separated lines (RFC 4180) with a header; null is written as an empty field, an empty string as "".',
  mediaType: 'text/csv; charset=utf-8',
  fileEnding: '.csv',
  options,
  isForDatasources: true,
  readBack: ({ delimiter, header, null_text }) => ({ format: 'csv', delimiter, header, null_text }),
  original: ({ formulas }) => (formulas === 'escape' ? formulaUnescaped : undefined),
  encoder: (columns, given) => new RowEncoder(framing(columns, given)),
});

function framing(columns: readonly Column[], given: CsvOptions): Framing {
  const { delimiter, header, null_text: nullText } = given;
  const eol = given.line_end === 'lf' ? '\n' : '\r\n';
  const nothing = constant('');
  const begin = [given.bom ? '\ufeff' : '', header ? headerLine(columns, given) + eol : ''].join('');
  const carefulCells = csvCells({ separators: [...separators, markStart], nullText });
  const careful = columns.map(({ type }, c) => {
    const made = frame(c, given, { cells: carefulCells, type });
    return { ...made, writer: made.valueWriter };
  });
  return {
    columns,
    frames: columns.map(({ type }, c) =>
      frame(c, given, { cells: csvCells({ separators: [delimiter], nullText }), type }),
    ),
    ...(header ? { notInNames: loneSurrogate } : { firstFrames: careful }),
    begin: constant(begin),
    firstLead: nothing,
    lead: nothing,
    tail: constant(eol),
    end: nothing,
    endEmpty: nothing,
  };
}

function frame(c: number, given: CsvOptions, { cells, type }: { cells: CellWriter; type: ColumnType }): ColumnFrame {
  const before = c === 0 ? '' : given.delimiter;
  const text = given.formulas === 'escape' && !neverQuoted.has(type) ? formulasEscaped(cells) : cells;
  const safe = given.null_text === '' && neverQuoted.has(type);
  return {
    before: constant(before),
    after: constant(''),
    absent: constant(before + given.null_text),
    writer: safe ? plain : text,
    valueWriter: text,
  };
}

function headerLine(columns: readonly Column[], { delimiter, formulas }: CsvOptions): string {
  return writtenNames(columns, 'a CSV header', (name) => name.toWellFormed())
    .map((name) => (formulas === 'escape' && isFormula(name) ? `'${name}` : name))
    .map((name) => (/^[^\s",;|]+( +[^\s",;|]+)*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`))
    .join(delimiter);
}
