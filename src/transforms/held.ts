import { type Batch, type ByteCells, type Cells, cellText, storedRow, type Value } from '../sdk/batch.ts';
import type { Column, ColumnType } from '../sdk/column.ts';
import { storedCount } from './stored.ts';

/**
 * Stores one column. Stores only the bytes of the kept rows, without the bytes of filtered rows between them. The first
 * batch determines whether the column is stored as bytes or as values, and later batches are converted.
 */
class HeldColumn {
  #bytes = Buffer.alloc(0);
  #used = 0;
  #spans = new Int32Array(0);
  readonly #values: Value[] = [];
  readonly #type: ColumnType;
  #kind: Cells['kind'] | undefined;

  constructor(type: ColumnType) {
    this.#type = type;
  }

  add(cells: Cells, batch: Batch, from: number): void {
    this.#kind ??= cells.kind;
    if (this.#kind === 'values') this.#addValues(cells, batch);
    else this.#addBytes(cells.kind === 'bytes' ? cells : bytesOf(cells, this.#type, batch), batch, from);
  }

  cells(): Cells {
    if (this.#kind === 'values') return { kind: 'values', values: this.#values };
    return { kind: 'bytes', bytes: this.#bytes, spans: this.#spans, stride: 1, slot: 0 };
  }

  #addValues(cells: Cells, batch: Batch): void {
    for (let i = 0; i < batch.length; i++) {
      const r = storedRow(batch, i);
      this.#values.push(cells.kind === 'values' ? (cells.values[r] ?? null) : cellText(cells, this.#type, r));
    }
  }

  #addBytes({ bytes, spans, stride, slot }: ByteCells, batch: Batch, from: number): void {
    this.#spans = grownSpans(this.#spans, 2 * (from + batch.length));
    for (let i = 0; i < batch.length; i++) {
      const at = 2 * (storedRow(batch, i) * stride + slot);
      const start = spans[at]!;
      const length = start < 0 ? 0 : spans[at + 1]! - start;
      if (length > 0) this.#copy(bytes, start, length);
      this.#spans[2 * (from + i)] = start < 0 ? -1 : this.#used - length;
      this.#spans[2 * (from + i) + 1] = this.#used;
    }
  }

  #copy(bytes: Buffer, start: number, length: number): void {
    if (this.#used + length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#used + length, 4096));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    bytes.copy(this.#bytes, this.#used, start, start + length);
    this.#used += length;
  }
}

/** Converts the visible cells of a batch to bytes. The result is indexed by stored row. */
function bytesOf(cells: Cells, type: ColumnType, batch: Batch): ByteCells {
  const spans = new Int32Array(2 * storedCount(batch)).fill(-1);
  const pieces: Buffer[] = [];
  for (let i = 0, used = 0; i < batch.length; i++) {
    const r = storedRow(batch, i);
    const text = cellText(cells, type, r);
    if (text === null) continue;
    const piece = Buffer.from(text);
    spans[2 * r] = used;
    used += piece.length;
    spans[2 * r + 1] = used;
    pieces.push(piece);
  }
  return { kind: 'bytes', bytes: Buffer.concat(pieces), spans, stride: 1, slot: 0 };
}

function grownSpans(spans: Int32Array<ArrayBuffer>, needed: number): Int32Array<ArrayBuffer> {
  if (needed <= spans.length) return spans;
  const larger = new Int32Array(Math.max(2 * spans.length, needed));
  larger.set(spans);
  return larger;
}

/** Keeps rows until the source ends. The rows form one batch, in the order in which they arrived. */
export class Held {
  readonly #columns: readonly Column[];
  #stores: HeldColumn[];
  #rows = 0;

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
    this.#stores = columns.map(({ type }) => new HeldColumn(type));
  }

  get rows(): number {
    return this.#rows;
  }

  /** Copies the visible rows, so that the batch and its buffers can be reused. */
  add(batch: Batch): void {
    for (const [c, store] of this.#stores.entries()) store.add(batch.cells[c]!, batch, this.#rows);
    this.#rows += batch.length;
  }

  /** Returns all kept rows and stops keeping them. Returns null if there are none. */
  release(): Batch | null {
    if (this.#rows === 0) return null;
    const batch = { columns: this.#columns, cells: this.#stores.map((store) => store.cells()), length: this.#rows };
    this.#stores = [];
    return batch;
  }
}
