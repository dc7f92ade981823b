import type { ReplacedCharacters } from '../lib/replaced-characters.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { OptionSet, OptionValues } from '../sdk/option.ts';
import type { RecordFormat, RecordQuery } from '../sdk/records/options.ts';
import type { Output } from './output.ts';

/**
 * Turns batches into bytes. Synchronous: the pipeline drains the output between two batches.
 *
 * What comes out is UTF-8, always. Lone surrogates of values become U+FFFD, as do characters that the format cannot carry, and
 * are counted. Cells that come as bytes are taken at their
 * word while they are encoded; then each finished piece is checked as a whole, and `Output` throws `FORMAT_UTF8` (family
 * `job`) instead of handing on one that is not UTF-8. That costs a few per cent and misses nothing.
 *
 * `batch` throws `FORMAT_VALUE` (family `row`, with row and column) for a value that its column's type cannot be written
 * as in this format: `abc` in an `integer` column of a JSON document.
 */
export interface Encoder {
  begin(out: Output): void;
  batch(batch: Batch, out: Output): void;
  end(out: Output): void;
  /** Of all batches so far. */
  readonly replaced: ReplacedCharacters;
}

/** Result of a checker. */
export interface CheckResult {
  /** Records where the format has any: csv rows without the header, items of a json array; else undefined. */
  readonly records: number | undefined;
}

/**
 * Reads a document as a stream and accepts or refuses it, in memory that does not grow. Both throw a Problem with code
 * `FORMAT_INVALID` (family `job`) whose message names line and byte; the same one wherever the document is cut into chunks.
 * Bytes that are not UTF-8, and documents of nothing but white space, are refused by every format.
 */
export interface FormatChecker {
  write(chunk: Uint8Array): void;
  end(): CheckResult;
}

/** The format of a reader, and options other than their defaults. */
export type ReadBack = { readonly format: RecordFormat } & Partial<RecordQuery>;

/** An output format: one file in `all/`. */
export interface Format<O extends OptionSet = OptionSet> {
  /** The name of its file, the word in the config and, if the service knows the format, the service's word. */
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** With charset, as sent in Content-Type. */
  readonly mediaType: string;
  /** With the dot. */
  readonly fileEnding: string;
  readonly options: O;
  /** Whether data sources of the service can have this format. If not, rows only go to files. */
  readonly isForDatasources: boolean;
  /** The options of a reader of records that reads a document of this format as the table that it was made of. */
  readBack(options: OptionValues<O>): ReadBack;
  /**
   * Compiles an encoder for these columns. Throws a Problem (family `config`, code `FORMAT_COLUMN_NAME`) when two
   * column names collide in this format.
   */
  encoder(columns: readonly Column[], options: OptionValues<O>): Encoder;
}

/** Declares a format; the identity function, there to infer the option types. */
export function defineFormat<const O extends OptionSet>(format: Format<O>): Format<O> {
  return format;
}
