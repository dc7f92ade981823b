import type { ColumnType } from '../column.ts';
import { canonicalText } from './canonical.ts';
import { parseValueFormat } from './parse-format.ts';
import type { FormattedType, ValueFormat } from './value-format.ts';

/** The type and format that a column seems to have. */
export interface SniffedColumn {
  readonly type: ColumnType;
  readonly format?: string;
  readonly first_year?: number;
  /** Formats that all fit but give the values different meanings, so that the suggested type is text. */
  readonly either?: readonly FormattedType[];
}

const text: SniffedColumn = { type: 'text' };

const plain: readonly (readonly [ColumnType, (text: string) => boolean])[] = [
  // A number with a leading zero or a plus sign is a code, such as a postcode, an article number or a phone number.
  ['integer', (value) => /^-?(0|[1-9]\d{0,17})$/.test(value)],
  ['decimal', (value) => /^-?(0|[1-9]\d*)(\.\d+)?$/.test(value)],
  ['boolean', (value) => /^(true|false)$/i.test(value)],
  ...(['date', 'timestamp', 'timestamptz', 'uuid'] as const).map(
    (type) => [type, (value: string) => canonicalText(value, type) !== undefined] as const,
  ),
];

/** The suggested first year of the hundred-year range that two-digit years refer to. */
const suggestedFirstYear = 1950;

interface SniffOptions {
  readonly name: string;
  /** The decimal mark that another column of the file uses; undefined if it isn't clear from any column. */
  readonly point?: '.' | ',' | undefined;
}

/** The narrowest type that fits all values, with its format; text if there are no values, or if two formats fit. */
function sniffColumn(cells: readonly (string | null)[], { name, point }: SniffOptions): SniffedColumn {
  const values = cells.flatMap((cell) => (cell === null || cell.trim() === '' ? [] : [cell.trim()]));
  if (values.length === 0) return text;
  const type = plain.find(([, fits]) => values.every(fits))?.[0];
  if (type === 'integer') return epochOf(values, name) ?? digitsOf(values) ?? { type };
  if (type === 'decimal' && values.every((value) => /^-?[1-9]\d{0,2}\.\d{3}$/.test(value))) return grouped(point);
  if (type !== undefined) return { type };
  return numberOf(values, point) ?? dateOf(values) ?? text;
}

/** The decimal mark that a column certainly uses. */
function pointOf({ type, format }: SniffedColumn): '.' | ',' | undefined {
  return type === 'decimal' ? pointIn(format) : undefined;
}

function pointIn(format = '1234.56'): '.' | ',' {
  return /\.\d\d?\D*$/.test(format) ? '.' : ',';
}

const nearTimes = /time|date|datum|created|updated|modified|epoch|_at$|_ts$|^ts$|^at$/i;

/** Seconds or milliseconds from 2000 to 2100, in a column whose name suggests a time. */
function epochOf(values: readonly string[], name: string): SniffedColumn | undefined {
  if (!nearTimes.test(name)) return undefined;
  const between = (from: number, to: number) => values.every((value) => Number(value) >= from && Number(value) < to);
  if (between(946_684_800, 4_102_444_800)) return { type: 'timestamptz', format: 'epoch' };
  return between(946_684_800_000, 4_102_444_800_000) ? { type: 'timestamptz', format: 'epoch_ms' } : undefined;
}

/** 20260131 */
function digitsOf(values: readonly string[]): SniffedColumn | undefined {
  const isDay = (value: string) => /^(?:19|20)\d{6}$/.test(value);
  if (!values.every(isDay)) return undefined;
  return fitting(values, [{ type: 'date', format: 'yyyyMMdd' }])[0]?.declared;
}

const marks = /[.,%$€£¥'’()\s]|[-−]$/;
const samples = ['1234,56', '1.234,56', '1,234.56', '1 234,56', '1 234.56', "1'234.56", "1'234,56", '12,34,567.89'];

/**
 * Matches numbers in local notation: with other separators, percent signs, currencies, parentheses or a trailing minus.
 */
function numberOf(values: readonly string[], point: '.' | ',' | undefined): SniffedColumn | undefined {
  const isCode = values.some((value) => /^[-+(]?0\d|^\+/.test(value));
  if (isCode || !values.every((value) => /\d/.test(value)) || !values.some((value) => marks.test(value)))
    return undefined;
  const styled = ['1234.56', ...samples].flatMap((sample) => variants(sample, values));
  const found = fitting(
    values,
    styled.map((format) => ({ type: 'decimal', format })),
  );
  const wanted = point === undefined ? found : found.filter(({ declared }) => pointIn(declared.format) === point);
  return chosen(wanted.length === 0 ? found : wanted);
}

function variants(sample: string, values: readonly string[]): string[] {
  const number = /^(?<before>[^\d+\-−(]{1,4})?[\d.,'’\s]+(?<after>[^\d)\-−]{1,4})?$/u;
  const bare = values.map((value) => number.exec(value.replaceAll(/^[-−+]|[-−]$|[()]/g, '').trim())?.groups);
  const { before = '', after = '' } = bare[0] ?? {};
  const around = `${before}${sample}${after.trim() === '' ? '' : ` ${after.trim()}`}`;
  return [around, `(${around})`, `${around}-`];
}

interface Fitting {
  readonly declared: SniffedColumn & FormattedType;
  readonly read: readonly string[];
}

function fitting(values: readonly string[], candidates: readonly FormattedType[]): Fitting[] {
  return candidates.flatMap((candidate) => {
    const format = parseValueFormat(candidate);
    const read = typeof format === 'string' ? undefined : readAll(values, format);
    if (read === undefined) return [];
    const isWhole = candidate.type === 'decimal' && read.every((value) => /^-?\d+$/.test(value));
    return [{ declared: { ...candidate, type: isWhole ? 'integer' : candidate.type } as Fitting['declared'], read }];
  });
}

function readAll(values: readonly string[], format: ValueFormat): string[] | undefined {
  const read: string[] = [];
  for (const value of values) {
    const canonical = format.read(value);
    if (canonical === undefined) return undefined;
    read.push(canonical);
  }
  return read;
}

/** The first format that fits, unless another one results in different values. */
function chosen(found: readonly Fitting[]): SniffedColumn | undefined {
  const [first] = found;
  if (first === undefined) return undefined;
  const others = found.filter(({ read }) => read.some((value, r) => value !== first.read[r]));
  if (others.length === 0) return first.declared;
  return { type: 'text', either: [first.declared, others[0]!.declared] };
}

/** If every value looks like `1.234`, the dot may be a thousands separator or a decimal point. */
function grouped(point: '.' | ',' | undefined): SniffedColumn {
  if (point === '.') return { type: 'decimal' };
  const thousands = { type: 'integer', format: '1.234,56' } as const;
  if (point === ',') return thousands;
  return { type: 'text', either: [thousands, { type: 'decimal' }] };
}

const days = [
  ...['dd.MM.yyyy', 'd.M.yyyy', 'dd/MM/yyyy', 'MM/dd/yyyy', 'd/M/yyyy', 'M/d/yyyy', 'dd-MM-yyyy', 'MM-dd-yyyy'],
  ...['yyyy/MM/dd', 'yyyy.MM.dd', 'yyyy/M/d', 'dd-MMM-yyyy', 'd-MMM-yyyy', 'dd MMM yyyy', 'd MMM yyyy', 'ddMMMyyyy'],
  ...['MMM d, yyyy', 'MMMM d, yyyy', 'd MMMM yyyy'],
];
const clocks = [
  '',
  ' HH:mm',
  ' HH:mm:ss',
  ' HH:mm:ss.SSS',
  ' H:mm',
  ' H:mm:ss',
  ' h:mm a',
  ' h:mm:ss a',
  ', HH:mm',
  ', HH:mm:ss',
];
const patterns: readonly FormattedType[] = days
  .flatMap((day) => [day, day.replace('yyyy', 'yy')])
  .flatMap((day) => clocks.map((clock) => `${day}${clock}`))
  .map((format) => ({
    type: /[hH]/.test(format) ? ('timestamp' as const) : ('date' as const),
    format,
    ...(/yyyy/.test(format) ? {} : { first_year: suggestedFirstYear }),
  }));

function dateOf(values: readonly string[]): SniffedColumn | undefined {
  return /\d/.test(values[0]!) ? chosen(fitting(values, patterns)) : undefined;
}

/** The types of a table's columns. If one column shows the decimal mark, it applies to all columns. */
export function sniffColumns(names: readonly string[], rows: readonly (readonly (string | null)[])[]): SniffedColumn[] {
  const cellsOf = (c: number) => rows.map((row) => row[c] ?? null);
  const alone = names.map((name, c) => sniffColumn(cellsOf(c), { name }));
  const points = new Set(alone.map(pointOf).filter((point) => point !== undefined));
  const [point] = points.size === 1 ? points : [];
  return alone.map((one, c) => (one.either === undefined ? one : sniffColumn(cellsOf(c), { name: names[c]!, point })));
}

/** Whether a string is a value rather than a column name. Years can be column names. */
export function isValue(cell: string): boolean {
  if (cell === '' || /^(?:19|20)\d\d$/.test(cell)) return false;
  const { type, either } = sniffColumn([cell], { name: '' });
  return type !== 'text' || either !== undefined;
}
