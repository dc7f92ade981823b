import { Problem } from '../../lib/problem.ts';
import { cutText } from '../../lib/redact.ts';
import { type ColumnType, columnTypes } from '../column.ts';
import { canonicalText } from '../records/canonical.ts';
import { type CursorBound, isBefore, refuseCursorValue } from './cursor-value.ts';

/** A watermark: the cursor's highest value, and hashes of the boundary rows. */
export interface CursorWatermark {
  readonly column: string;
  readonly value: CursorBound;
  /** The columns whose values are hashed in `seen`, in order; empty if they are unknown. */
  readonly columns: readonly string[];
  /**
   * Hashes of the rows within the lag and above the value, one per row. If several rows are equal, their hash is listed
   * several times.
   */
  readonly seen: readonly string[];
  /** The highest cursor value of these rows, if it's above `value`. */
  readonly highest?: string;
  /** Rows that earlier runs have sent and that the last read didn't return; absent if there are none. */
  readonly missing?: readonly MissingRows[];
}

/** Hashes of rows that are missing from a response, but may be in the next one. */
export interface MissingRows {
  /** The highest cursor value of the read that last returned them, so theirs aren't higher. */
  readonly until: string;
  readonly rows: readonly string[];
}

/**
 * Parses a watermark. `seen` is optional, because users can set watermarks by hand. Throws a Problem if the text isn't
 * a watermark.
 */
export function parseWatermark(text: string | undefined): CursorWatermark | undefined {
  if (text === undefined) return undefined;
  try {
    const parsed = JSON.parse(text) as Record<string, unknown>;
    const { column, type, value, columns = [], seen = [], highest, missing } = parsed;
    const isWhole = typeof column === 'string' && typeof value === 'string' && [columns, seen].every(Array.isArray);
    if (!isWhole || !columnTypes.includes(type as ColumnType)) throw new Error('not whole');
    const rows = {
      columns: texts(columns),
      seen: texts(seen),
      ...(highest === undefined ? {} : { highest: String(highest) }),
      ...(missing === undefined ? {} : { missing: missingIn(missing) }),
    };
    return { column, value: { type: type as ColumnType, text: value }, ...rows };
  } catch (cause) {
    throw new Problem({
      code: 'CURSOR_WATERMARK',
      family: 'config',
      message: "the job's watermark was written by a different connector",
      seen: cutText(text, 80),
      allowed: 'such as {"column":"updated_at","type":"timestamptz","value":"2026-11-20T08:00:00Z"}',
      next: 'clear the watermark to read all rows again: `sluice state clear JOB`',
      cause,
    });
  }
}

/** No row in the watermark has a higher cursor value. Not for text, whose order only the source knows. */
export function highestIn({ value, highest = value.text, missing = [] }: CursorWatermark): CursorBound {
  const bounds = [highest, ...missing.map(({ until }) => until)].map((text): CursorBound => ({ ...value, text }));
  return bounds.reduce((most, one) => (isBefore(most, one) ? one : most));
}

const texts = (list: unknown): string[] => (list as unknown[]).map(String);

function missingIn(list: unknown): MissingRows[] {
  return (list as MissingRows[]).map(({ until, rows }) => ({ until: String(until), rows: texts(rows) }));
}

/**
 * Parses a watermark that a user has set: either a whole watermark with the same cursor, or only a value. Throws a
 * Problem for any other text.
 */
export function meantWatermark(
  text: string,
  { former, cursor }: { readonly former: string; readonly cursor: string | undefined },
): string {
  const { column, value, ...rows } = text.startsWith('{')
    ? parseWatermark(text)!
    : atValue(text, parseWatermark(former)!);
  const canonical = canonicalText(value.text, value.type);
  if (canonical === undefined || column !== (cursor ?? column)) {
    throw new Problem({
      code: 'CURSOR_WATERMARK',
      family: 'config',
      message: `not a valid value for the job's cursor ${JSON.stringify(cursor ?? column)}`,
      seen: cutText(text, 80),
      allowed: `a value of type ${value.type}, in the format that \`sluice state show JOB\` prints`,
    });
  }
  refuseCursorValue(column, { ...value, text: canonical });
  return watermarkText({ column, value: { ...value, text: canonical }, ...rows });
}

/**
 * A watermark with another value of the same cursor. It has no hashes, so the next run reads all rows with that value.
 */
function atValue(text: string, { column, value: { type } }: CursorWatermark): CursorWatermark {
  return { column, value: { type, text }, columns: [], seen: [] };
}

/** Serializes the watermark. Equal watermarks produce equal strings. */
export function watermarkText({ column, value, columns, seen, highest, missing }: CursorWatermark): string {
  const away = missing?.map(({ until, rows }) => ({ until, rows: rows.toSorted() }));
  return JSON.stringify({
    column,
    type: value.type,
    value: value.text,
    columns,
    seen: seen.toSorted(),
    highest,
    missing: away,
  });
}
