import { type Batch, type Column, type ColumnType, type Extraction, Problem, type Range } from '#sdk';
import type { ChangesOptions } from './changes.ts';
import { refuseCursorType } from './cursor-value.ts';
import { type CursorBound, rangeQuery } from './dialect.ts';
import { columnAt } from './ordered.ts';
import { parseWatermark } from './watermark.ts';

/** The options of a range read. The watermark determines the cursor column's type. */
interface RangeReadOptions extends ChangesOptions {
  readonly range: Range;
  /** IANA time zone in which days start and end, and which applies to times without a zone. */
  readonly timezone: string | undefined;
}

/**
 * Reads the rows whose cursor value is in a range, regardless of earlier runs. Rows whose cursor is null aren't in any
 * range.
 */
export async function extractRange(given: RangeReadOptions): Promise<Extraction> {
  const { query, dialect, range, timezone = 'UTC', ask } = given;
  const { cursor: column } = query;
  const before = parseWatermark(given.watermark)?.value;
  if (before === undefined) throw notRead(column);
  const [from, to] = [range.from, range.to].map((text) => boundOf(text, { column, type: before.type, timezone }));
  const asked = { column, from: stored(from!, before), to: stored(to!, before), nulls: 'leave_out' as const };
  const read = await ask(rangeQuery(query, asked, dialect));
  const { type } = read.columns[columnAt(read.columns, column, 'cursor')]!;
  refuseCursorType(column, type);
  const columns = dialect.stored === undefined ? read.columns : read.columns.slice(0, -1);
  return {
    columns,
    cursor: column,
    covers: { column, from: from!.text, to: to!.text },
    batches: without(read.batches, columns),
  };
}

/** Removes the last column, which was read only to sort the rows. */
async function* without(batches: AsyncIterable<Batch>, columns: readonly Column[]): AsyncGenerator<Batch, void, void> {
  for await (const batch of batches) {
    const { cells, ...rest } = batch;
    yield { ...rest, columns, cells: cells.slice(0, columns.length) };
  }
}

/** Writes a bound in the same format as the column's values. SQLite compares text, so a space and a T are different. */
function stored(bound: CursorBound, { text }: CursorBound): CursorBound {
  return text[10] === ' ' ? { ...bound, text: bound.text.replace('T', ' ') } : bound;
}

/** One end of the range as a value of the column's type, in canonical text. */
function boundOf(text: string, to: { column: string; type: ColumnType; timezone: string }): CursorBound {
  const { type } = to;
  const made = makers[type]?.(text, to.timezone);
  if (made === undefined) throw otherKind(text, to);
  return { type, text: made };
}

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text);
const hasZone = (text: string) => /(Z|[+-]\d\d:\d\d)$/.test(text.slice(10));
const isNumber = (text: string) => /^-?\d+$/.test(text);

/** Returns undefined if the text isn't a value of the type. */
const makers: Readonly<Partial<Record<ColumnType, (text: string, timezone: string) => string | undefined>>> = {
  integer: (text) => (isNumber(text) ? text : undefined),
  decimal: (text) => (isNumber(text) ? text : undefined),
  date: (text) => (isDay(text) ? text : undefined),
  timestamp: (text) => (isNumber(text) || hasZone(text) ? undefined : localText(text)),
  timestamptz: (text, timezone) => (isNumber(text) ? undefined : instantText(text, timezone)),
  text: (text) => text,
};

const localText = (text: string) => Temporal.PlainDateTime.from(text).toString();

function instantText(text: string, timezone: string): string {
  const at = hasZone(text)
    ? Temporal.Instant.from(text)
    : Temporal.PlainDateTime.from(text).toZonedDateTime(timezone).toInstant();
  return at.toString();
}

function otherKind(seen: string, { column, type }: { column: string; type: ColumnType }): Problem {
  const allowed: Readonly<Partial<Record<ColumnType, string>>> = {
    integer: 'a whole number',
    decimal: 'a whole number',
    date: 'a date: 2026-01-31',
    timestamp: 'a date, or a time without a zone: 2026-01-31, 2026-01-31T09:00',
  };
  return new Problem({
    code: 'DB_RANGE',
    family: 'config',
    message: `the range does not match column ${JSON.stringify(column)}, whose type is ${type}`,
    where: { column },
    seen,
    allowed: allowed[type] ?? 'a date or a time: 2026-01-31, 2026-01-31T09:00:00Z',
    next: 'fix --from and --to',
  });
}

function notRead(column: string): Problem {
  return new Problem({
    code: 'DB_RANGE',
    family: 'job',
    message: `the type of column ${JSON.stringify(column)} is unknown: the job has not read any rows yet`,
    where: { column },
    next: 'run the job once: `sluice sync JOB`',
  });
}
