import { Problem } from '../../lib/problem.ts';
import { cutText } from '../../lib/redact.ts';
import { type Column, type ColumnType, commonType, typesLine } from '../column.ts';
import '../../lib/temporal.ts';

/**
 * A cursor value as the canonical text of its type. The text is exact, so the value is never converted to a JavaScript
 * number.
 */
export interface CursorBound {
  readonly type: ColumnType;
  readonly text: string;
}

const shapes: Readonly<Partial<Record<ColumnType, RegExp>>> = {
  integer: /^-?\d+$/,
  decimal: /^-?\d+(\.\d+)?$/,
  date: /^\d{4}-\d\d-\d\d$/,
  timestamp: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/,
  timestamptz: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|[+-]\d\d:\d\d)$/i,
  text: /^/,
};

const instead: Readonly<Partial<Record<ColumnType, string>>> = {
  float: 'use a decimal, because floats cannot be compared exactly; in SQL, cast(… as decimal(20, 6))',
  uuid: 'use an increasing column, because UUIDs are not ordered by time; if the values are UUIDv7, cast the column to text',
};

/** Rejects a column that can't be used as a cursor. */
export function refuseCursorType(column: string, type: ColumnType): void {
  if (shapes[type] !== undefined) return;
  throw new Problem({
    code: 'CURSOR_TYPE',
    family: 'job',
    message: `column ${JSON.stringify(column)} cannot be a cursor: its type is ${type}`,
    where: { column },
    seen: type,
    allowed: Object.keys(shapes).join(', '),
    next: instead[type] ?? 'use a column that increases with every new or changed row',
  });
}

/** Rejects a cursor whose type has changed since the last run. */
export function refuseOtherType({ name, type }: Column, before: CursorBound | undefined): void {
  if (before === undefined || before.type === type) return;
  const common = commonType(before.type, type);
  const declared = common === 'decimal' ? common : before.type;
  throw new Problem({
    code: 'CURSOR_TYPE',
    family: 'job',
    message: `the type of column ${JSON.stringify(name)} has changed since the last run: it was ${before.type} and is now ${type}`,
    where: { column: name },
    seen: type,
    allowed: before.type,
    next: `cast the column to its former type in the query; for an API, write ${typesLine(name, declared)} in the query; or clear the watermark to read all rows again: \`sluice state clear JOB\``,
  });
}

/** Rejects values that can't be compared as text: infinity, NaN, years BC and years with five digits. */
export function refuseCursorValue(column: string, { type, text }: CursorBound): void {
  if (shapes[type]!.test(text)) return;
  throw new Problem({
    code: 'CURSOR_VALUE',
    family: 'job',
    message: `the highest value of column ${JSON.stringify(column)} cannot be a watermark`,
    where: { column },
    seen: cutText(text, 80),
    next: 'exclude rows with such values in the query, as in … where that_column < …',
  });
}

/**
 * Whether a value is less than another value of the same type. Only the database can sort text, so text values are
 * compared only for equality.
 */
export function isBefore(a: CursorBound, b: CursorBound): boolean {
  switch (a.type) {
    case 'integer':
      return BigInt(a.text) < BigInt(b.text);
    case 'decimal': {
      const scale = Math.max(scaleOf(a.text), scaleOf(b.text));
      return scaled(a.text, scale) < scaled(b.text, scale);
    }
    case 'text':
      return a.text !== b.text;
    case 'timestamptz':
      return instantOf(plainText(a.text, a.type)) < instantOf(plainText(b.text, b.type));
    default:
      return plainText(a.text, a.type) < plainText(b.text, b.type);
  }
}

const fractional: readonly ColumnType[] = ['decimal', 'time', 'timestamp', 'timestamptz'];

/** The value without trailing zeros in its fraction, which only show how many digits the column has. */
export function plainText(text: string, type: ColumnType): string {
  if (!fractional.includes(type)) return text;
  return text.replace(/\.(\d*?)0+(?!\d)/, (_, digits: string) => (digits === '' ? '' : `.${digits}`));
}

/** Converts a timestamp to sortable text. Timestamps are usually in UTC; then only the Z is removed. */
function instantOf(text: string): string {
  if (/Z$/i.test(text)) return text.slice(0, -1);
  return Temporal.Instant.from(text).toString().slice(0, -1);
}

function scaleOf(text: string): number {
  const point = text.indexOf('.');
  return point === -1 ? 0 : text.length - point - 1;
}

function scaled(text: string, scale: number): bigint {
  return BigInt(text.replace('.', '') + '0'.repeat(scale - scaleOf(text)));
}

/** The lag: a number for numeric columns, a duration for dates and times. */
export type Lag = string | number;

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const daySeconds = 86_400;

/** The exact difference of the value and the lag. Throws a Problem if the lag doesn't match the column's type. */
export function lagged(column: string, { type, text }: CursorBound, lag: Lag | undefined): CursorBound {
  if (lag === undefined) return { type, text };
  const isNumber = type === 'integer' || type === 'decimal';
  const [, count, unit] = /^(\d+)([smhd])$/.exec(String(lag)) ?? [];
  if (type === 'text' || isNumber !== (typeof lag === 'number')) throw noLag(column, type, lag);
  if (isNumber) return { type, text: less(text, BigInt(lag)) };
  const seconds = Number(count) * units[unit!]!;
  if (type !== 'date') return { type, text: earlier(text, seconds) };
  const days = Math.ceil(seconds / daySeconds);
  return { type, text: Temporal.PlainDate.from(text).subtract({ days }).toString() };
}

function less(text: string, lag: bigint): string {
  const scale = scaleOf(text);
  const left = scaled(text, scale) - lag * 10n ** BigInt(scale);
  if (scale === 0) return String(left);
  const digits = String(left < 0n ? -left : left).padStart(scale + 1, '0');
  return `${left < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Keeps the value's format, because SQLite compares text. A space stays a space, and no seconds are added. */
function earlier(text: string, seconds: number): string {
  const [, day, between, clock, zone] = /^(\d{4}-\d\d-\d\d)([T ])([\d:.]+)(.*)$/.exec(text)!;
  const before = Temporal.PlainDateTime.from(`${day}T${clock}`).subtract({ seconds }).toString();
  const kept = clock!.length === 5 ? before.slice(0, 16) : before;
  return `${kept.replace('T', between!)}${zone}`;
}

/** The error for a lag that doesn't match the column's type, with an example of a valid lag. */
function noLag(column: string, type: ColumnType, lag: Lag): Problem {
  const { allowed, next } = lagFor(type, lag);
  return new Problem({
    code: 'CURSOR_LAG',
    family: 'job',
    message: `a lag of ${lag} cannot be subtracted from column ${JSON.stringify(column)}: its type is ${type}`,
    where: { column },
    seen: `lag: ${lag}`,
    allowed,
    next,
  });
}

function lagFor(type: ColumnType, lag: Lag): { allowed: string; next: string } {
  if (type === 'text') {
    return {
      allowed: 'no lag',
      next: 'remove lag; or, if rows are committed late, use a numeric or time column as the cursor',
    };
  }
  if (type === 'integer' || type === 'decimal') {
    return {
      allowed: 'a number such as 1000',
      next: 'set lag to a number, such as "lag: 1000"; or use a time column as the cursor',
    };
  }
  return { allowed: '30s, 10m, 2h, 1d', next: `write lag with a unit, for example lag: ${lag}s for seconds` };
}
