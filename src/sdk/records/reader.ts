import { Problem } from '../../lib/problem.ts';
import type { Extraction } from '../extraction.ts';
import type { RecordInput } from './input.ts';
import type { RecordOptions } from './options.ts';

/**
 * Reads the records of one or more inputs as one table. First surveys every input, in order, to determine everything
 * that depends on all inputs, such as keys and types. Then reads the rows.
 */
export interface RecordReader {
  /**
   * Surveys another input. Returns its number of records if `count` is set or the input had to be read anyway, and the
   * requested scalars in {@link Surveyed}. If surveying an input fails, the input isn't part of the table. Another
   * input can then be surveyed in its place, whose columns replace those of the failed input.
   */
  survey(input: RecordInput, ask?: SurveyAsk): Promise<Surveyed>;
  /** The table of all surveyed inputs, each opened again. */
  extraction(): Extraction;
}

/** What a caller requests from an input before, or instead of, its records. */
export interface SurveyAsk {
  /** Requests the number of records, even if that takes a pass over the data. */
  readonly count?: boolean;
  /**
   * Places of requested values, such as a cursor or a next link. Values outside the records exist only in json and xml,
   * and values in the last record in all formats.
   */
  readonly values?: readonly string[];
  /** Called with what the survey found. If it throws, surveying the input fails with that error. */
  readonly check?: (found: Surveyed) => void;
}

/** What the path to the records contains in a JSON document: a list, null, or a single record. */
export type RecordsShape = 'list' | 'null' | 'single';

/** What the survey of an input found. */
export interface Surveyed {
  /** Number of records in this input; undefined if it wasn't requested and the input didn't have to be read. */
  readonly records: number | undefined;
  /** The requested values that exist, including null; numbers keep their digits ({@link parseExact}). */
  readonly values: ReadonlyMap<string, unknown>;
  /** What the input contains at the nearest existing part of a place, for error messages. */
  readonly nearby?: (place: string) => string | undefined;
  /** json: what the path to the records contains. */
  readonly shape?: RecordsShape | undefined;
  /**
   * The error if the input isn't a table and values were requested. The caller must throw this error, and can use the
   * values to explain it. If no values were requested, the survey itself throws the error.
   */
  readonly refused?: Problem;
}

/** A reader for the format, which is loaded lazily. */
export async function recordReader(settings: RecordOptions): Promise<RecordReader> {
  if (settings.key_column !== undefined && settings.format !== 'json') throw noKeys(settings.format);
  if (settings.format === 'csv') return new (await import('./csv-reader.ts')).CsvReader(settings);
  if (settings.format === 'xml') return new (await import('./xml-reader.ts')).XmlReader(settings);
  if (settings.format === 'xlsx') return new (await import('./xlsx-reader.ts')).XlsxReader(settings);
  return new (await import('./json-reader.ts')).JsonReader(settings);
}

/** Reads all inputs as one table: surveys each, then returns the columns and batches. */
export async function readRecords(
  inputs: Iterable<RecordInput> | AsyncIterable<RecordInput>,
  settings: RecordOptions,
): Promise<Extraction> {
  const reader = await recordReader(settings);
  for await (const input of inputs) await reader.survey(input);
  return reader.extraction();
}

function noKeys(format: string): Problem {
  return new Problem({
    code: 'RECORDS_KEY_COLUMN',
    family: 'config',
    message: 'only json has records with keys',
    seen: `key_column with ${format}`,
    next: 'remove `key_column`',
  });
}
