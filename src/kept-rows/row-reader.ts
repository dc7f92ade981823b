import type { Batch, ByteCells } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { KeyFilter } from './key-filter.ts';
import type { Merge } from './merge.ts';
import { findCells, isDeletion, type RecordRef, sizeAt } from './record.ts';
import type { RecordSource } from './record-source.ts';
import type { RetentionAge } from './retention-age.ts';

const batchRows = 1024;
const batchBytes = 512 * 1024;

/** Filters for rows that were deleted in the source, or that a retention rule removes. */
export interface RowFilters {
  readonly keys?: KeyFilter;
  readonly age?: { readonly at: number; readonly of: RetentionAge };
  readonly newest?: NewestRows;
}

/**
 * Builds batches from a merge, leaving out deleted rows and rows that retention removes. Each batch reuses the buffer
 * of the batch before the previous one.
 */
export class RowReader {
  readonly columns: readonly Column[];
  readonly #merge: Merge;
  readonly #filters: RowFilters;
  readonly #spans: Int32Array;
  #buffer = Buffer.allocUnsafeSlow(batchBytes);
  #used = 0;
  #rows = 0;
  #all = 0;
  #oldest: string | undefined;

  constructor(merge: Merge, { columns, gates = {} }: { columns: readonly Column[]; gates?: RowFilters }) {
    this.columns = columns;
    this.#merge = merge;
    this.#filters = gates;
    this.#spans = new Int32Array(2 * batchRows * columns.length);
  }

  /** Rows so far. */
  get rows(): number {
    return this.#all;
  }

  /** The oldest kept value, if comparing strings is enough to find it. */
  get oldest(): string | undefined {
    return this.#oldest;
  }

  /** The text of a cell of the record that `each` was called with. */
  textOf(column: number): string | undefined {
    return this.#textAt(2 * ((this.#rows - 1) * this.columns.length + column));
  }

  /** The next batch; undefined at the end. `each` is called with every record in it. */
  async next(each?: (source: RecordSource, bytes: number) => Promise<void> | undefined): Promise<Batch | undefined> {
    this.#used = 0;
    this.#rows = 0;
    for (;;) {
      const source = this.#merge.next();
      if (source === 'end') {
        await this.#filters.keys?.finish();
        return this.#rows === 0 ? undefined : this.#batch();
      }
      if (source === 'wait') {
        await this.#merge.fill();
        continue;
      }
      if (isDeletion(source)) continue;
      if (this.#filters.keys !== undefined) {
        const exists = this.#filters.keys.hasRow(source);
        if (!(typeof exists === 'boolean' ? exists : await exists)) continue;
      }
      const bytes = this.#take(source);
      if (bytes === 0) continue;
      const full = each?.(source, bytes);
      if (full !== undefined) await full;
      if (this.#rows === batchRows || this.#used >= batchBytes / 2) return this.#batch();
    }
  }

  /** Adds a record to the batch and returns its size. Returns 0 if the record is filtered out. */
  #take(spot: RecordRef): number {
    const size = sizeAt(spot.buffer, spot.start);
    const width = this.columns.length;
    const at = 2 * this.#rows * width;
    if (this.#used + size > this.#buffer.length) this.#grow(size);
    const begin = this.#used;
    spot.buffer.copy(this.#buffer, begin, spot.start, spot.start + size);
    findCells({ buffer: this.#buffer, start: begin }, { spans: this.#spans, at, width, origin: 0 });
    if (!this.#isKept({ buffer: this.#buffer, start: begin }, at)) return 0;
    this.#used += size;
    this.#rows += 1;
    this.#all += 1;
    return size;
  }

  #isKept(spot: RecordRef, at: number): boolean {
    const { age, newest } = this.#filters;
    const text = age === undefined ? undefined : this.#textAt(at + 2 * age.at);
    if (age !== undefined && text !== undefined && age.of.isOld(text)) return false;
    if (newest !== undefined && !newest.has(spot, newest.at < 0 ? undefined : this.#textAt(at + 2 * newest.at)))
      return false;
    if (age !== undefined && text !== undefined) this.#note(age.of, text);
    return true;
  }

  #note(age: RetentionAge, text: string): void {
    if (this.#oldest === '') return;
    if (!age.isPlain(text)) this.#oldest = '';
    else if (this.#oldest === undefined || text < this.#oldest) this.#oldest = text;
  }

  #textAt(span: number): string | undefined {
    const start = this.#spans[span]!;
    return start < 0 ? undefined : this.#buffer.toString('utf8', start, this.#spans[span + 1]);
  }

  /** Enlarges the buffer. The spans of its cells remain valid. */
  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#buffer.length, this.#used + size));
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }

  #batch(): Batch {
    const { columns } = this;
    const shared = { kind: 'bytes', bytes: this.#buffer, spans: this.#spans, stride: columns.length } as const;
    const cells = columns.map((_, slot): ByteCells => ({ ...shared, slot }));
    return { columns, cells, length: this.#rows };
  }
}

/** Decides whether a row is among the newest ones. */
export interface NewestRows {
  /** Index of the column that determines which rows are newest; -1 if their position does. */
  readonly at: number;
  has(spot: RecordRef, text: string | undefined): boolean;
}
