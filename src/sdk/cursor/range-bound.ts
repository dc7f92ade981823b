import { Problem } from '../../lib/problem.ts';
import type { ColumnType } from '../column.ts';
import type { Range } from '../extraction.ts';
import type { CursorBound } from './cursor-value.ts';
import '../../lib/temporal.ts';

interface RangeColumn {
  readonly column: string;
  /** The cursor's type; undefined if no row has been read yet. */
  readonly type: ColumnType | undefined;
  /** IANA time zone of days, and of times without a zone. */
  readonly timezone: string;
}

/** A column whose type is known, and what to do about a value that doesn't match it. */
interface BoundColumn extends RangeColumn {
  readonly type: ColumnType;
  readonly next: string;
}

/** The ends of a range as cursor values. Throws a Problem if they don't match the column's type, or if it's unknown. */
export function rangeBounds(
  range: Range,
  { column, type, timezone }: RangeColumn,
): { readonly from: CursorBound; readonly to: CursorBound } {
  if (type === undefined) throw notRead(column);
  const bound = (text: string) => rangeBound(text, { column, type, timezone, next: 'fix --from and --to' });
  return { from: bound(range.from), to: bound(range.to) };
}

/** One end of a range as a value of the column's type, in canonical text. Throws a Problem if it isn't one. */
export function rangeBound(text: string, to: BoundColumn): CursorBound {
  const { type } = to;
  const made = makers[type]?.(text, to.timezone);
  if (made === undefined) throw otherKind(text, to);
  return { type, text: made };
}

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text);
const hasZone = (text: string) => /(Z|[+-]\d\d:\d\d)$/.test(text.slice(10));
const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
const isNumber = (text: string) => /^-?\d+$/.test(text);

/** Returns undefined if the text isn't a value of the type. */
const makers: Readonly<Partial<Record<ColumnType, (text: string, timezone: string) => string | undefined>>> = {
  integer: (text) => (isNumber(text) ? text : undefined),
  decimal: (text) => (isNumber(text) ? text : undefined),
  date: (text) => (isDay(text) ? text : undefined),
  timestamp: (text) => (isNumber(text) || hasZone(text) ? undefined : localText(text)),
  timestamptz: (text, timezone) => (isNumber(text) ? undefined : instantText(text, timezone)),
  text: (text) => text,
  uuid: (text) => (isUuid(text) ? text.toLowerCase() : undefined),
};

const localText = (text: string) => Temporal.PlainDateTime.from(text).toString();

function instantText(text: string, timezone: string): string {
  const at = hasZone(text)
    ? Temporal.Instant.from(text)
    : Temporal.PlainDateTime.from(text).toZonedDateTime(timezone).toInstant();
  return at.toString();
}

function otherKind(seen: string, { column, type, next }: BoundColumn): Problem {
  const allowed: Readonly<Partial<Record<ColumnType, string>>> = {
    integer: 'a whole number',
    decimal: 'a whole number',
    date: 'a date: 2026-01-31',
    timestamp: 'a date, or a time without a zone: 2026-01-31, 2026-01-31T09:00',
    uuid: 'a UUID: 6f1c2d3e-0000-4000-8000-000000000001',
    binary: 'nothing: a column of this type cannot limit a range',
  };
  return new Problem({
    code: 'CURSOR_RANGE',
    family: 'config',
    message: `the range does not match column ${JSON.stringify(column)}, whose type is ${type}`,
    where: { column },
    seen,
    allowed: allowed[type] ?? 'a date or a time: 2026-01-31, 2026-01-31T09:00:00Z',
    next,
  });
}

function notRead(column: string): Problem {
  return new Problem({
    code: 'CURSOR_RANGE',
    family: 'job',
    message: `the type of column ${JSON.stringify(column)} is unknown: the job has not read any rows yet`,
    where: { column },
    next: 'run the job once: `sluice sync JOB`',
  });
}
