import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Batch, batchOf, batchText } from '../sdk/batch.ts';
import type { Extraction } from '../sdk/extraction.ts';
import { withDefaults } from '../sdk/option.ts';
import { type RecordOptions, recordOptions } from '../sdk/records/options.ts';
import { type RecordReader, recordReader } from '../sdk/records/reader.ts';
import { formatById } from './index.ts';

/** A payload on disk, with its format options. */
export interface PayloadFile {
  readonly path: string;
  readonly format: string;
  /** The format options that it was written with: `delimiter`, `null_text`, `row`. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A row's cells in column order. An absent cell is null. */
export type Row = readonly (string | null)[];

/** Reads a payload as a table in constant memory. Each read starts at the first row. */
export class PayloadTable {
  /** Column names. A JSON or XML document without rows has no column names. */
  readonly columns: readonly string[];
  readonly #reader: RecordReader;
  readonly #original: ((text: string) => string) | undefined;

  private constructor(reader: RecordReader, original: ((text: string) => string) | undefined) {
    this.#reader = reader;
    this.#original = original;
    this.columns = this.extraction().columns.map(({ name }) => name);
  }

  /** Throws a Problem if the document can't be read as a table, or the system's error if the file is missing. */
  static async open({ path, format, options }: PayloadFile): Promise<PayloadTable> {
    await stat(path);
    const { original, settings } = settingsFor(format, options);
    const reader = await recordReader(settings);
    await reader.survey({ name: basename(path), file: path, open: () => createReadStream(path) });
    return new PayloadTable(reader, original);
  }

  /** The columns with the types that the format can show, and the rows in batches. */
  extraction(): Pick<Extraction, 'columns' | 'batches'> {
    const { columns, batches } = this.#reader.extraction();
    const original = this.#original;
    if (original === undefined) return { columns, batches };
    const named = columns.map((column) => ({ ...column, name: original(column.name) }));
    return { columns: named, batches: originals(batches, named, original) };
  }

  async *rows(): AsyncGenerator<Row> {
    for await (const batch of this.extraction().batches) yield* batchText(batch);
  }
}

async function* originals(
  batches: Extraction['batches'],
  columns: Extraction['columns'],
  original: (text: string) => string,
): AsyncGenerator<Batch> {
  for await (const batch of batches) {
    const rows = batchText(batch).map((row) => row.map((cell) => (cell === null ? null : original(cell))));
    yield batchOf(columns, rows);
  }
}

function settingsFor(id: string, given: PayloadFile['options']) {
  const { options, readBack, original } = formatById(id);
  const known = withDefaults(options, given);
  const { format, ...own } = readBack(known);
  const settings: RecordOptions = {
    ...withDefaults(recordOptions, { ...own, flatten: 0 }),
    format,
    noRecords: 'empty',
  };
  return { settings, original: original?.(known) };
}
