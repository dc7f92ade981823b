import type { ReplacedCharacters } from '../lib/replaced-characters.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { OptionSet, OptionValues } from '../sdk/option.ts';
import type { RecordFormat, RecordQuery } from '../sdk/records/options.ts';
import type { Output } from './output.ts';

/**
 * Encodes batches as bytes. Synchronous: the pipeline drains the output between batches.
 *
 * The output is always UTF-8. Lone surrogates, and characters that the format doesn't support, become U+FFFD and are
 * counted. Byte cells are trusted during encoding; then each finished chunk is validated as a whole, and `Output`
 * throws `FORMAT_UTF8` (family `job`) instead of passing on invalid UTF-8. This costs a few percent and catches all
 * invalid bytes.
 *
 * `batch` throws `FORMAT_VALUE` (family `row`, with row and column) for a value that can't be written as its column's
 * type in this format, such as `abc` in an `integer` column of a JSON document.
 */
export interface Encoder {
  begin(out: Output): void;
  batch(batch: Batch, out: Output): void;
  end(out: Output): void;
  /** The characters that were replaced in all batches so far. */
  readonly replaced: ReplacedCharacters;
}

export interface CheckResult {
  /**
   * Number of records, if the format has any: CSV rows without the header, or items of a JSON array. Otherwise
   * undefined.
   */
  readonly records: number | undefined;
}

/**
 * Validates a document as a stream, in constant memory. Both methods throw a Problem with code `FORMAT_INVALID` (family
 * `job`) whose message contains the line and byte, no matter how the document is split into chunks. Every format
 * rejects invalid UTF-8 and documents that contain only white space.
 */
export interface FormatChecker {
  write(chunk: Uint8Array): void;
  end(): CheckResult;
}

/** The format that a reader must use, and any options that differ from their defaults. */
export type ReadBack = { readonly format: RecordFormat } & Partial<RecordQuery>;

/** An output format. Each format is one file in `all/`. */
export interface Format<O extends OptionSet = OptionSet> {
  /**
   * The format's name, which is used for its file in `all/`, in the config and, if the service supports the format, in
   * the service's API.
   */
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** The media type for Content-Type, including the charset. */
  readonly mediaType: string;
  /** The file name extension, including the dot. */
  readonly fileEnding: string;
  readonly options: O;
  /** Whether data sources of the service can have this format. If not, only files can. */
  readonly isForDatasources: boolean;
  /** The record reader's options for reading a document in this format back as the original table. */
  readBack(options: OptionValues<O>): ReadBack;
  /** Returns the function that turns a text of a document that was read back into the original text, if they differ. */
  original?(options: OptionValues<O>): ((text: string) => string) | undefined;
  /**
   * Compiles an encoder for these columns. Throws a Problem (family `config`, code `FORMAT_COLUMN_NAME`) if two column
   * names become equal in this format.
   */
  encoder(columns: readonly Column[], options: OptionValues<O>): Encoder;
}

/** Declares a format. An identity function that infers the types of the options. */
export function defineFormat<const O extends OptionSet>(format: Format<O>): Format<O> {
  return format;
}
