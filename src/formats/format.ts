import type { ReplacedCharacters } from '../lib/replaced-characters.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { OptionSet, OptionValues } from '../sdk/option.ts';
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

/** An output format. The `id` is the word in the config and the service's `format`. */
export interface Format<O extends OptionSet = OptionSet> {
  readonly id: 'csv' | 'json' | 'xml';
  readonly title: string;
  readonly summary: string;
  /** With charset, as sent in Content-Type. */
  readonly mediaType: string;
  /** With the dot. */
  readonly fileEnding: string;
  readonly options: O;
  /**
   * Compiles an encoder for these columns. Throws a Problem (family `config`, code `FORMAT_COLUMN_NAME`) when two
   * column names collide in this format.
   */
  encoder(columns: readonly Column[], options: OptionValues<O>): Encoder;
  checker(): FormatChecker;
}

/** Declares a format; the identity function, there to infer the option types. */
export function defineFormat<const O extends OptionSet>(format: Format<O>): Format<O> {
  return format;
}
