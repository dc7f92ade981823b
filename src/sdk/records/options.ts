import type { RunWarning } from '../../lib/run-warnings.ts';
import { columnTypes, type KeptColumn } from '../column.ts';
import { type OptionValues, option } from '../option.ts';
import { recordsFault } from '../places/place.ts';
import { type DeclaredColumn, type DeclaredType, formatFaults } from './column-formats.ts';
import { isKnownEncoding } from './encoding.ts';
import { compressedEnding } from './unzip.ts';
import type { FamilyFormats } from './value-format.ts';

/** The supported formats. `jsonl` is one JSON value per line. */
export const recordFormats = ['csv', 'json', 'jsonl', 'xml'] as const;
export type RecordFormat = (typeof recordFormats)[number];

const formatSchemas = {
  format: { type: 'string', minLength: 1 },
  first_year: { type: 'integer', minimum: 0, maximum: 9900 },
};

const text = { type: 'string', minLength: 1 };

/** The `query` options shared by all connectors that read documents. */
export const recordOptions = {
  format: option.choice(recordFormats, {
    about: 'Format of the data. Default: detected from the file name extension or content type.',
    example: 'csv',
  }),
  encoding: option.text({
    about: 'Encoding of the text. A byte-order mark takes precedence. Default: UTF-8.',
    example: 'windows-1252',
  }),
  records: option.text({
    about:
      'Path to the records: keys joined by dots, and `*` for every member or item (json), or the path or name of the repeated element (xml).',
    example: 'data.items',
  }),
  key_column: option.text({
    about:
      'json: a column for the names of the members, if `records` ends with `.*` and selects the members of an object.',
    example: 'id',
  }),
  flatten: option.integer({
    about: 'Nested objects become columns with dotted names down to this depth; 0 keeps them as json.',
    default: 8,
    minimum: 0,
    maximum: 32,
  }),
  types: option.map<DeclaredType>(
    {
      anyOf: [
        { enum: columnTypes },
        {
          type: 'object',
          additionalProperties: false,
          required: ['type'],
          properties: { type: { enum: columnTypes }, ...formatSchemas },
        },
      ],
    },
    {
      about: 'Types by column name, with the format of the values if it isn’t the default. Each value is checked.',
      example: { amount: 'decimal', paid_on: { type: 'date', format: 'dd.MM.yyyy' } },
    },
  ),
  formats: option.schema<FamilyFormats>(
    {
      type: 'object',
      additionalProperties: false,
      properties: {
        number: text,
        date: text,
        time: text,
        timestamp: text,
        timestamptz: text,
        first_year: formatSchemas.first_year,
      },
    },
    {
      about: 'Formats for all columns without their own `format`: an example for numbers, a pattern for dates.',
      default: {},
      example: { number: '1.234,56', date: 'dd.MM.yyyy' },
    },
  ),
  columns: option.list<DeclaredColumn>(
    {
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: { name: { type: 'string' }, type: { enum: columnTypes, default: 'text' }, ...formatSchemas },
    },
    {
      about: 'The exact columns of the result, in this order. If set, the data is read once instead of twice.',
      example: [{ name: 'id', type: 'integer' }],
    },
  ),
  ignore_unknown: option.boolean({
    about: 'With `columns`: ignore other columns in the data instead of rejecting the data.',
    default: false,
  }),
  dialect: option.choice(['csv', 'postgres_text', 'mysql_text'], {
    about:
      'csv: `postgres_text` for files from PostgreSQL’s COPY, `mysql_text` for `mysqldump --tab` and `INTO OUTFILE`. These have tabs, no quotes, backslash escapes, and `\\N` for null.',
    default: 'csv',
  }),
  delimiter: option.text({
    about: 'csv: the delimiter; `tab` is allowed. A first line such as `sep=;`, which Excel writes, takes precedence.',
    default: ',',
    example: ';',
  }),
  quote: option.text({ about: 'csv: the quote character; empty if cells are never quoted.', default: '"' }),
  escape: option.text({
    about:
      'csv: the escape character inside a quoted cell; the next character is literal. Default: the quote character.',
    example: '\\',
  }),
  header: option.boolean({
    about:
      'csv, xlsx: whether the first row contains the column names. If not, the columns are named column1, column2 and so on.',
    default: true,
  }),
  skip_rows: option.integer({
    about: 'csv, xlsx: lines to skip before the header, including a `sep=` line.',
    default: 0,
    minimum: 0,
  }),
  skip_footer: option.integer({
    about: 'csv: lines to skip at the end, such as totals; blank lines don’t count.',
    default: 0,
    minimum: 0,
    maximum: 1000,
  }),
  skip_initial_space: option.boolean({
    about: 'csv: ignore spaces before a cell, as in `1, "a, b"`.',
    default: false,
  }),
  null_padding: option.boolean({
    about:
      'csv: if a row has fewer cells than the header, the missing cells at its end are null. By default, such a row fails the run.',
    default: false,
  }),
  allow_nan: option.boolean({
    about:
      'json, jsonl: read `NaN`, `Infinity` and `-Infinity`, which Python writes although JSON has no such numbers, as null.',
    default: false,
  }),
  comment: option.text({ about: 'csv: lines that start with this string are skipped.', example: '#' }),
  null_text: option.text({
    about: 'csv: an unquoted cell that contains exactly this string is null. A quoted cell is never null.',
    default: '',
    example: '\\N',
  }),
};

/** The values of `recordOptions`, with defaults. */
export type RecordQuery = OptionValues<typeof recordOptions>;

/** A reader's options: the query's options with the resolved format, and additional columns about the input. */
export interface RecordOptions extends Omit<RecordQuery, 'format'> {
  readonly format: RecordFormat | 'xlsx';
  /** xlsx: name, pattern or position of the sheet. */
  readonly sheet?: string | number | undefined;
  /** Name of an additional leading column, which contains the input's name. */
  readonly inputColumn?: string | undefined;
  /** Name of an additional leading column, which contains the input's modification time. */
  readonly modifiedColumn?: string | undefined;
  /** Names of additional leading columns, which contain the input's `facts`. */
  readonly factColumns?: readonly string[] | undefined;
  /**
   * xml: whether a first document without the element named by `records` is an error or an empty table. Default:
   * `error`.
   */
  readonly noRecords?: 'error' | 'empty' | undefined;
  /** json, xml, xlsx: {@link ExtractContext.keptColumns}. Used only without `columns`. */
  readonly keptColumns?: readonly KeptColumn[] | undefined;
  /** Called with a warning if data is read differently than users may expect. */
  readonly warn?: ((warning: RunWarning) => void) | undefined;
  /** The scanner's block size. Tests use blocks of a few bytes, so that every cell is split. */
  readonly blockBytes?: number | undefined;
}

const endings: Record<string, RecordFormat> = {
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  xml: 'xml',
};

const namedFormat = new RegExp(`\\.([a-z]+)${compressedEnding}$`, 'i');

/** The format that a file's extension indicates; the extension of a compressed file is ignored. */
export function formatOfName(name: string): RecordFormat | undefined {
  const ending = namedFormat.exec(name)?.[1]?.toLowerCase();
  return ending === undefined || !Object.hasOwn(endings, ending) ? undefined : endings[ending];
}

/** The format that a Content-Type header indicates, if any (RFC 6838; `+json` and `+xml` suffixes count). */
export function formatOfMediaType(header: string | undefined): RecordFormat | undefined {
  const type = header?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (/^(?:application|text)\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-seq|json-lines)$/.test(type)) return 'jsonl';
  if (/[/+](?:x-)?json$/.test(type)) return 'json';
  if (/[/+](?:x-)?xml$/.test(type)) return 'xml';
  if (/[/](?:x-)?(?:csv|tab-separated-values|comma-separated-values)$/.test(type)) return 'csv';
  return undefined;
}

/** Validates the combination of options before any data is read. */
export function recordFaults(query: Omit<RecordQuery, 'format'>): { option: string; message: string }[] {
  const faults: { option: string; message: string }[] = [];
  faults.push(...dialectFaults(query), ...formatFaults(query));
  if (query.encoding !== undefined && !isKnownEncoding(query.encoding))
    faults.push({ option: 'encoding', message: 'unknown encoding' });
  faults.push(...pathFaults(query));
  const names = query.columns.map((column) => column.name);
  if (new Set(names).size < names.length) faults.push({ option: 'columns', message: 'names a column twice' });
  return faults;
}

function pathFaults({ records, key_column }: Pick<RecordQuery, 'records' | 'key_column'>) {
  const fault = records === undefined ? undefined : recordsFault(records);
  if (fault !== undefined) return [{ option: 'records', message: fault }];
  const hasNames = /(?:^|\.)\*|\[\*\]/.test(records ?? '');
  return key_column === undefined || hasNames
    ? []
    : [{ option: 'key_column', message: 'requires `records` with a `*`, such as `items.*`' }];
}

/** The option's delimiter. A tab may be written as `tab` or, outside YAML's double quotes, as `\\t`. */
export function delimiterOf(written: string, dialect: RecordQuery['dialect']): string {
  const isTab = /^(?:\\t|tab)$/i.test(written) || (dialect !== 'csv' && written === ',');
  return isTab ? '\t' : written;
}

type Dialect = Pick<RecordQuery, 'dialect' | 'delimiter' | 'quote' | 'escape' | 'skip_initial_space' | 'skip_footer'>;

function dialectFaults({
  delimiter: written,
  quote,
  escape: escaper,
  dialect,
  skip_initial_space,
  skip_footer,
}: Dialect) {
  const delimiter = delimiterOf(written, dialect);
  const isAscii = (text: string) => text.length === 1 && text < '\x80';
  const rules: [isBroken: boolean, option: string, message: string][] = [
    [delimiter === '', 'delimiter', 'must not be empty'],
    [/[\r\n]/.test(delimiter), 'delimiter', 'must not contain a line break'],
    [
      /\\[a-z\d]/i.test(delimiter),
      'delimiter',
      'contains an escape sequence as text: YAML interprets escape sequences only in double quotes ("\\x01")',
    ],
    [quote !== '' && !isAscii(quote), 'quote', 'must be one ASCII character, or empty for none'],
    [quote !== '' && delimiter.includes(quote), 'quote', 'must differ from the delimiter'],
    [escaper !== undefined && !isAscii(escaper), 'escape', 'must be one ASCII character'],
    [
      escaper !== undefined && escaper !== '' && delimiter.includes(escaper),
      'escape',
      'must differ from the delimiter',
    ],
    [
      escaper !== undefined && quote === '',
      'escape',
      'has no effect without a quote character, because it only applies to quoted cells',
    ],
    [escaper !== undefined && dialect !== 'csv', 'escape', 'applies only to `dialect: csv`'],
    [skip_footer > 0 && dialect !== 'csv', 'skip_footer', 'applies only to `dialect: csv`'],
    [dialect !== 'csv' && delimiter.includes('\\'), 'delimiter', 'must not contain a backslash in this dialect'],
    [skip_initial_space && delimiter.startsWith(' '), 'skip_initial_space', 'requires another delimiter than a space'],
  ];
  return rules.flatMap(([isBroken, option, message]) => (isBroken ? [{ option, message }] : []));
}
