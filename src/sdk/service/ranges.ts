import { Problem } from '../../lib/problem.ts';
import type { Column, ColumnType } from '../column.ts';
import type { Extraction, Range } from '../extraction.ts';
import { fileDecoding, type ServiceDescription, type StreamData } from './description.ts';
import { type Moment, readMoment } from './moment.ts';
import type { Scope } from './template.ts';

/** The column or options that select a past range of a stream; undefined if the stream doesn't support ranges. */
export function rangesBy(
  { streams }: Pick<ServiceDescription, 'streams'>,
  { stream: name }: Readonly<Record<string, unknown>>,
): string | undefined {
  const stream = streams[String(name)];
  if (stream === undefined || fileDecoding(stream) !== undefined) return undefined;
  if (stream.window !== undefined) return 'start_date to end_date';
  return cursorOf(stream) === undefined ? undefined : 'the time of the change';
}

/** The cursor column of a stream. */
export function cursorOf({ incremental }: Pick<StreamData, 'incremental'>): string | undefined {
  return incremental !== undefined && 'column' in incremental ? incremental.column : undefined;
}

/** A range as template variables of a stream. */
export interface RangeScope {
  /** The template variables, including the dates for the stream's request. */
  readonly scope: Scope;
  /** If the service doesn't support an end date, records from this time on are dropped. */
  readonly until: Moment | undefined;
}

/** Throws a Problem of the `config` family if a date is invalid. */
export function rangeScope(range: Range, { stream, scope }: { stream: StreamData; scope: Scope }): RangeScope {
  const [from, to] = [range.from, range.to].map((text) => momentOf(text, scope.now.at.timeZoneId)) as [Moment, Moment];
  if (stream.window === undefined) return { scope: { ...scope, start_date: range.from }, until: to };
  // A stream's end date is inclusive.
  const end = to.isDay ? to.plus('-1d') : to;
  return { scope: { ...scope, start_date: from.text(), end_date: end.text() }, until: undefined };
}

/**
 * The column and bounds that identify the range's rows; undefined if the stream has no such column and only keys
 * identify the rows.
 */
export function coversOf(
  range: Range,
  { stream, columns, zone }: { stream: StreamData; columns: readonly Column[]; zone: string },
): Extraction['covers'] {
  const column = cursorOf(stream);
  const type = columns.find(({ name }) => name === column)?.type;
  if (stream.window !== undefined || column === undefined || type === undefined) return undefined;
  const format = formats[type];
  if (format === undefined) return undefined;
  const [from, to] = [range.from, range.to].map((text) => momentOf(text, zone).text(format)) as [string, string];
  return { column, from, to };
}

const formats: Readonly<Partial<Record<ColumnType, string>>> = { timestamptz: 'iso', timestamp: 'local', date: 'date' };

function momentOf(text: string, zone: string): Moment {
  const moment = /^-?\d+$/.test(text) ? undefined : readMoment(text, zone);
  if (moment !== undefined) return moment;
  throw new Problem({
    code: 'SERVICE_RANGE',
    family: 'config',
    message: 'Not a valid date; this stream is divided into ranges of dates',
    seen: text,
    allowed: '2026-01-31, 2026-01-31T09:00, 2026-01-31T09:00:00Z',
    next: 'fix --from and --to',
  });
}
