import type { Problem } from '../../lib/problem.ts';
import type { Extraction } from '../connector.ts';
import type { RecordInput } from './input.ts';
import type { RecordOptions } from './options.ts';

/**
 * Reads the records of one or more inputs as one table. First surveys every input, in order, which determines
 * everything that depends on all inputs (the union of keys, the types). Then reads the rows.
 */
export interface RecordReader {
  /**
   * Surveys one more input. Returns its number of records if `count` is set or if the input had to be read anyway, and
   * the requested scalars in {@link Surveyed}. An input that fails isn't part of the table: another may be surveyed in
   * its place, and its columns replace those of the failed one.
   */
  survey(input: RecordInput, ask?: SurveyAsk): Promise<Surveyed>;
  /** The table of all surveyed inputs, each opened again. */
  extraction(): Extraction;
}

/** What is requested from an input before, or instead of, its records. */
export interface SurveyAsk {
  /** Request the number of records, even if that costs a pass over the data. */
  readonly count?: boolean;
  /** json: paths (keys joined by dots) of requested values outside the records: a cursor, a next link. */
  readonly values?: readonly string[];
}

/** What the path of the records contains in a JSON document: a list, null, or a single record. */
export type RecordsShape = 'list' | 'null' | 'single';

/** What a survey of one input found. */
export interface Surveyed {
  /** Records of this input; undefined if not requested and nothing had to be read. */
  readonly records: number | undefined;
  /** The requested values that exist, including null; numbers keep their digits ({@link parseExact}). */
  readonly values: ReadonlyMap<string, unknown>;
  /** json: what the path of the records contains. */
  readonly shape?: RecordsShape | undefined;
  /**
   * The error if the input isn't a table. Returned instead of thrown if values were requested, because they may explain
   * it; the caller must then throw it.
   */
  readonly refused?: Problem;
}

/** A reader for the format, loaded lazily. */
export async function recordReader(settings: RecordOptions): Promise<RecordReader> {
  if (settings.format === 'csv') return new (await import('./csv-reader.ts')).CsvReader(settings);
  if (settings.format === 'xml') return new (await import('./xml-reader.ts')).XmlReader(settings);
  if (settings.format === 'xlsx') return new (await import('./xlsx-reader.ts')).XlsxReader(settings);
  return new (await import('./json-reader.ts')).JsonReader(settings);
}

/** Reads all inputs as one table: surveys each, then returns columns and batches. */
export async function readRecords(
  inputs: Iterable<RecordInput> | AsyncIterable<RecordInput>,
  settings: RecordOptions,
): Promise<Extraction> {
  const reader = await recordReader(settings);
  for await (const input of inputs) await reader.survey(input);
  return reader.extraction();
}
