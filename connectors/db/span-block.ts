import { Problem } from '#sdk';
import type { BatchQueue } from './batch-queue.ts';
import type { BatchMaker } from './cells.ts';

/** Bytes are gathered in blocks of this size: large enough for a thousand ordinary rows, small enough for the cache. */
export const blockBytes = 256 * 1024;
const maxRows = 1024;
const maxCells = 128 * 1024;

/** Blocks that wait to be filled again: as many as a full queue and the reader let go of together. */
const maxSpare = 8;

/**
 * Spans of the rows that are complete within one block of bytes, on their way to becoming a batch. Several batches may
 * share a block: what was handed on is never written again, only bytes behind it, until the reader asks for the next
 * batch. Then its memory is used again: a fresh block for every batch would keep the garbage collector at work.
 */
export class SpanBlock {
  readonly #maker: BatchMaker;
  readonly #queue: BatchQueue;
  readonly #width: number;
  readonly #capacity: number;
  /** How many batches in the hands of others stand in each block. */
  readonly #lent = new Map<Buffer, number>();
  readonly #spare: Buffer[] = [];
  readonly #spareSpans: Int32Array[] = [];
  #current: Buffer | undefined;
  #before = 0;
  #firstByte = 0;
  /** Where the next row's spans go. */
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

  /** What ended the result in its middle, with the number of the row that did not come any more. */
  placed(reason: unknown): unknown {
    const row = this.#before + this.rows + 1;
    return reason instanceof Problem && row > 1 ? reason.at({ row }) : reason;
  }

  /** Hands the rows on. `end` is where in the block the next row begins; 0 when a new block begins. */
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

  /** The block of at least so many bytes that the next rows stand in, instead of the one before. */
  renew(least = blockBytes): Buffer {
    const before = this.#current;
    this.#current = (least <= blockBytes ? this.#spare.pop() : undefined) ?? Buffer.allocUnsafeSlow(least);
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
