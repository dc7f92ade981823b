import { type ColumnType, columnTypes, Problem } from '#sdk';
import type { Bound } from './dialect.ts';

/** How far a job has read: up to this value of its cursor; of the rows at the edge, what tells them again. */
export interface Watermark {
  readonly column: string;
  readonly value: Bound;
  /** Hashes of the rows from the lag on, as often as they came. */
  readonly seen: readonly string[];
}

/** A watermark out of its text. One that a person wrote may leave `seen` out. Throws a Problem for a text that is none. */
export function parseWatermark(text: string | undefined): Watermark | undefined {
  if (text === undefined) return undefined;
  try {
    const { column, type, value, seen = [] } = JSON.parse(text) as Record<string, unknown>;
    const isWhole = typeof column === 'string' && typeof value === 'string' && Array.isArray(seen);
    if (!isWhole || !columnTypes.includes(type as ColumnType)) throw new Error('not whole');
    return { column, value: { type: type as ColumnType, text: value }, seen: seen.map(String) };
  } catch (cause) {
    throw new Problem({
      code: 'DB_WATERMARK',
      family: 'config',
      message: 'the watermark of the job is not one of this connector',
      seen: text.slice(0, 80),
      allowed: 'such as {"column":"updated_at","type":"timestamptz","value":"2026-11-20T08:00:00Z"}',
      next: 'forget it, so that the job reads all rows anew: `sluice state clear JOB`',
      cause,
    });
  }
}

/** The watermark's text: the same watermark is always the same text. */
export function watermarkText({ column, value, seen }: Watermark): string {
  return JSON.stringify({ column, type: value.type, value: value.text, seen: seen.toSorted() });
}
