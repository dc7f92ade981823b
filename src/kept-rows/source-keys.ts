import type { DiskSpace } from '../lib/disk-space.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column, KeptColumn } from '../sdk/column.ts';
import { joinColumns } from './kept-columns.ts';
import { KeyFilter } from './key-filter.ts';
import { Merge } from './merge.ts';
import { findCells, isDeletion } from './record.ts';
import { RowWriter } from './row-writer.ts';
import { Sorter } from './sorter.ts';

export interface SourceKeysOptions {
  /** The key columns. */
  readonly key: readonly string[];
  /** The columns of the kept rows, with whose types keys are compared. */
  readonly kept: readonly KeptColumn[];
  /** The columns of the list: the key columns, and a last column with the cursors. */
  readonly come: readonly Column[];
  /** Folder for temporary files. */
  readonly scratch: string;
  readonly room: DiskSpace | undefined;
  /** Maximum number of bytes to sort in memory. */
  readonly maxBytes: number | undefined;
}

/** The complete list of a source's keys, sorted on disk. */
export class SourceKeys {
  readonly #sorter: Sorter;
  readonly #writer: RowWriter;
  readonly #filters: KeyFilter[] = [];
  /** Number of columns of a record. The last one contains the cursor, which no kept column is named like. */
  readonly #width: number;

  constructor({ key, kept, come, scratch, room, maxBytes }: SourceKeysOptions) {
    const known = kept.filter(({ name }) => key.includes(name));
    const { columns, from } = joinColumns(known, come);
    this.#sorter = new Sorter(scratch, { room, maxBytes, name: 'keys' });
    const cursor = come.at(-1)!.name;
    this.#width = columns.length;
    this.#writer = new RowWriter({ columns, from, come, key, next: 0, areFound: false, cursor });
  }

  /** Takes a batch of keys. They're copied, so the batch can be reused. */
  async take(batch: Batch): Promise<void> {
    for (let i = 0; i < batch.length; i++) {
      this.#writer.write(batch, i, this.#sorter.arena);
      const full = this.#sorter.spill();
      if (full !== undefined) await full;
    }
  }

  /** A filter for one pass over the kept rows. Call this after the last key. See {@link KeyFilter} for `firstNew`. */
  filter(firstNew: number): KeyFilter {
    const filter = new KeyFilter(new Merge(this.#sorter.sources(0)), firstNew);
    this.#filters.push(filter);
    return filter;
  }

  /**
   * Whether a row doesn't exist in the source any more. Reads rows, in key order, up to the first such row, and closes
   * them. Call this after the last key.
   */
  async lack(rows: Merge, firstNew: number): Promise<boolean> {
    const filter = this.filter(firstNew);
    try {
      for (let row = rows.next(); row !== 'end'; row = rows.next()) {
        if (row === 'wait') {
          await rows.fill();
          continue;
        }
        if (isDeletion(row)) continue;
        const exists = filter.hasRow(row);
        if (!(typeof exists === 'boolean' ? exists : await exists)) return true;
      }
      await filter.finish();
      return false;
    } finally {
      await rows.close();
    }
  }

  /**
   * The lowest cursor of the keys that no row has, in canonical text. Call this after all rows have passed the last
   * {@link filter}.
   */
  get missing(): string | undefined {
    const missing = this.#filters.at(-1)?.missing;
    if (missing === undefined) return undefined;
    const spans = new Int32Array(2 * this.#width);
    findCells(missing, { spans, at: 0, width: this.#width, origin: 0 });
    const [start, end] = spans.subarray(-2);
    return missing.buffer.toString('utf8', start, end);
  }

  async close(): Promise<void> {
    for (const filter of this.#filters) await filter.close();
    await this.#sorter.close();
  }
}
