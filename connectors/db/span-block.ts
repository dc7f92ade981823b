import { Problem } from '#sdk';
import type { BatchQueue } from './batch-queue.ts';
import type { BatchMaker } from './cells.ts';

/** Block size: large enough for a thousand typical rows, and small enough for the CPU cache. */
export const blockBytes = 256 * 1024;
const maxRows = 1024;
const maxCells = 128 * 1024;

/** Maximum number of free blocks. A full queue and the reader can release this many at once. */
const maxSpare = 8;

/**
 * Collects the spans of complete rows in a block of bytes until the rows are passed on as a batch. Several batches may
 * share a block. A batch's bytes aren't overwritten until the reader requests the next batch. Blocks are reused,
 * because allocating new ones for each batch would burden the garbage collector.
 */
export class SpanBlock {
  readonly #maker: BatchMaker;
  readonly #queue: BatchQueue;
  readonly #width: number;
  readonly #capacity: number;
  /** Number of batches from each block that were passed on. */
  readonly #lent = new Map<Buffer, number>();
  readonly #spare: Buffer[] = [];
  readonly #spareSpans: Int32Array[] = [];
  #current: Buffer | undefined;
  #before = 0;
  #firstByte = 0;
  /** Position at which the next row's spans will be written. */
  spans: Int32Array;
  /** Rows in `spans`. */
  rows = 0;

  constructor(maker: BatchMaker, queue: BatchQueue) {
    this.#maker = maker;
    this.#queue = queue;
    this.#width = maker.columns.length;
    this.#capacity = Math.max(16, Math.min(maxRows, Math.floor(maxCells / Math.max(1, this.#width))));
    this.spans = this.#freshSpans();
  }

  get isFull(): boolean {
    return this.rows === this.#capacity;
  }

  /** Adds the number of the first missing row to the error that ended the result early. */
  placed(reason: unknown): unknown {
    const row = this.#before + this.rows + 1;
    return reason instanceof Problem && row > 1 ? reason.at({ row }) : reason;
  }

  /** Passes on the rows. `end` is the position in the block at which the next row starts; 0 in a new block. */
  flush(bytes: Buffer, end: number): void {
    if (this.rows > 0) {
      const { spans, rows } = this;
      const batch = this.#maker.make({ bytes, spans, length: rows, before: this.#before });
      this.#before += rows;
      this.rows = 0;
      this.spans = this.#freshSpans();
      this.#lent.set(bytes, (this.#lent.get(bytes) ?? 0) + 1);
      this.#queue.push(batch, end - this.#firstByte, () => this.#takeBack(bytes, spans));
    }
    this.#firstByte = end;
  }

  /** Uses a block of at least this many bytes for the next rows. */
  renew(minBytes = blockBytes): Buffer {
    const before = this.#current;
    this.#current = (minBytes <= blockBytes ? this.#spare.pop() : undefined) ?? Buffer.allocUnsafeSlow(minBytes);
    this.#firstByte = 0;
    if (before !== undefined && !this.#lent.has(before)) this.#keep(before);
    return this.#current;
  }

  #takeBack(bytes: Buffer, spans: Int32Array): void {
    this.#spareSpans.push(spans);
    const lent = this.#lent.get(bytes)! - 1;
    if (lent > 0) {
      this.#lent.set(bytes, lent);
      return;
    }
    this.#lent.delete(bytes);
    if (bytes !== this.#current) this.#keep(bytes);
  }

  #keep(block: Buffer): void {
    if (block.length === blockBytes && this.#spare.length < maxSpare) this.#spare.push(block);
  }

  #freshSpans(): Int32Array {
    return this.#spareSpans.pop() ?? new Int32Array(2 * this.#width * this.#capacity);
  }
}
