import type { BatchQueue } from './batch-queue.ts';
import type { BatchMaker } from './cells.ts';

/** Bytes are gathered in blocks of this size: large enough for a thousand ordinary rows, small enough for the cache. */
export const blockBytes = 256 * 1024;
const mostRows = 1024;
const mostCells = 128 * 1024;

/**
 * Spans of the rows that are complete within one block of bytes, on their way to becoming a batch. Several batches may
 * share a block: what was handed on is never written again, only bytes behind it.
 */
export class SpanBlock {
  readonly #maker: BatchMaker;
  readonly #queue: BatchQueue;
  readonly #width: number;
  readonly #capacity: number;
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
    this.#capacity = Math.max(16, Math.min(mostRows, Math.floor(mostCells / Math.max(1, this.#width))));
    this.spans = new Int32Array(2 * this.#width * this.#capacity);
  }

  get isFull(): boolean {
    return this.rows === this.#capacity;
  }

  /** Hands the rows on. `end` is where in the block the next row begins; 0 when a new block begins. */
  flush(bytes: Buffer, end: number): void {
    if (this.rows > 0) {
      const batch = this.#maker.make({ bytes, spans: this.spans, length: this.rows, before: this.#before });
      this.#before += this.rows;
      this.rows = 0;
      this.spans = new Int32Array(2 * this.#width * this.#capacity);
      this.#queue.push(batch, end - this.#firstByte);
    }
    this.#firstByte = end;
  }

  /** The next bytes stand in another block. */
  restart(): void {
    this.#firstByte = 0;
  }
}
