import type { Problem } from '../../lib/problem.ts';
import type { Extraction } from '../connector.ts';
import type { RecordInput } from './input.ts';
import type { RecordOptions } from './options.ts';

/**
 * Reads the records of one or more inputs as one table. First every input is shown to it, in order; what can only be
 * known from all of them (the union of keys, the types) is known then; then the rows are read.
 */
export interface RecordReader {
  /**
   * Looks at one more input. Resolves to the number of its records when `count` is asked for or when it had to be read
   * anyway. `found` gets the scalars that were asked for in {@link Surveyed}. An input that fails is no part of the table: another one
   * may be shown in its place, whose columns are taken for those of the failed one as well.
   */
  survey(input: RecordInput, ask?: SurveyAsk): Promise<Surveyed>;
  /** The table of all surveyed inputs, each opened again. */
  extraction(): Extraction;
}

/** What is wanted of an input before, or instead of, its records. */
export interface SurveyAsk {
  /** The number of records is wanted, even if that costs a pass over the data. */
  readonly count?: boolean;
  /** json: paths (keys joined by dots) of values outside the records that are wanted: a cursor, a next link. */
  readonly values?: readonly string[];
}

/** What stands where the records are in a json document: a list of them, null, or one value that is the only record. */
export type RecordsShape = 'list' | 'null' | 'single';

/** What a survey of one input found. */
export interface Surveyed {
  /** Records of this input; undefined if not requested and nothing had to be read. */
  readonly records: number | undefined;
  /** Each wanted value that is there, null too; numbers with their digits ({@link parseExact}). */
  readonly values: ReadonlyMap<string, unknown>;
  /** json: what stands at the path of the records. */
  readonly shape?: RecordsShape | undefined;
  /** Why the input is no table, if values were asked for: they may tell more about it. Throw it. */
  readonly refused?: Problem;
}

/** A reader for the settings' format, loaded when it is wanted. */
export async function recordReader(settings: RecordOptions): Promise<RecordReader> {
  if (settings.format === 'csv') return new (await import('./csv-reader.ts')).CsvReader(settings);
  if (settings.format === 'xml') return new (await import('./xml-reader.ts')).XmlReader(settings);
  if (settings.format === 'xlsx') return new (await import('./xlsx-reader.ts')).XlsxReader(settings);
  return new (await import('./json-reader.ts')).JsonReader(settings);
}

/** Reads all inputs as one table: surveys each, then gives columns and batches. */
export async function readRecords(
  inputs: Iterable<RecordInput> | AsyncIterable<RecordInput>,
  settings: RecordOptions,
): Promise<Extraction> {
  const reader = await recordReader(settings);
  for await (const input of inputs) await reader.survey(input);
  return reader.extraction();
}
