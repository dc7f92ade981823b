import type { Batch, Cells, Value } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';

/** Limits of a batch. Without the second one, a large cell that many rows repeat would fill the memory. */
const maxRows = 1000;
const maxBytes = 1024 * 1024;

interface RepeatedRowsOptions {
  readonly batch: Batch;
  /** The columns of the result. */
  readonly columns: readonly Column[];
  /** For each column of the result: the batch's column that it repeats, or -1 if its values are new. */
  readonly sources: readonly number[];
}

/** Collects rows that consist of cells of a batch, which can be repeated and aren't copied, and of new values. */
export class RepeatedRows {
  readonly #options: RepeatedRowsOptions;
  #stored: number[] = [];
  #values: Value[][] = [];
  #bytes = 0;
  #parent = -1;
  #parentBytes = 0;

  constructor(options: RepeatedRowsOptions) {
    this.#options = options;
  }

  /** Adds a row with the cells of a stored row, and with new values in the order of their columns. */
  add(stored: number, values: Value[]): void {
    if (stored !== this.#parent) {
      const { batch, sources } = this.#options;
      this.#parent = stored;
      this.#parentBytes = sources.reduce((sum, c) => sum + (c < 0 ? 0 : cellBytes(batch.cells[c]!, stored)), 0);
    }
    this.#stored.push(stored);
    this.#values.push(values);
    this.#bytes += values.reduce<number>((sum, value) => sum + valueBytes(value), this.#parentBytes);
  }

  get isFull(): boolean {
    return this.#stored.length >= maxRows || this.#bytes >= maxBytes;
  }

  /** Returns the collected rows as batches, of which there is one or none, and begins a new batch. */
  *release(): Iterable<Batch> {
    const { batch, columns, sources } = this.#options;
    const [rows, values] = [this.#stored, this.#values];
    if (rows.length === 0) return;
    let next = 0;
    const cells = sources.map((c): Cells => {
      if (c >= 0) return repeated(batch.cells[c]!, rows);
      const index = next++;
      return { kind: 'values', values: values.map((row) => row[index] ?? null) };
    });
    [this.#stored, this.#values, this.#bytes] = [[], [], 0];
    yield { columns, cells, length: rows.length };
  }
}

function repeated(cells: Cells, rows: readonly number[]): Cells {
  if (cells.kind === 'values') return { kind: 'values', values: rows.map((r) => cells.values[r] ?? null) };
  const spans = new Int32Array(2 * rows.length);
  for (const [i, r] of rows.entries()) {
    const at = 2 * (r * cells.stride + cells.slot);
    spans[2 * i] = cells.spans[at]!;
    spans[2 * i + 1] = cells.spans[at + 1]!;
  }
  return { kind: 'bytes', bytes: cells.bytes, spans, stride: 1, slot: 0 };
}

/** Approximate size of a stored cell in bytes. */
function cellBytes(cells: Cells, stored: number): number {
  if (cells.kind === 'values') return valueBytes(cells.values[stored] ?? null);
  const at = 2 * (stored * cells.stride + cells.slot);
  const start = cells.spans[at]!;
  return start < 0 ? 0 : cells.spans[at + 1]! - start;
}

function valueBytes(value: Value): number {
  return typeof value === 'object' ? (value?.length ?? 0) : String(value).length;
}
