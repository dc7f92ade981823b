import type { Batch } from '#sdk';

/** A query over a local file. The query runs in this process or in another one. */
export interface QueryReader<Order, Column, Rows> {
  /**
   * Opens the file and prepares the statement. Returns the result's columns, or an empty list if the statement has no
   * result.
   */
  open(order: Order): Promise<readonly Column[]>;
  /** Returns the next rows; none at the end. */
  rows(): Promise<Rows>;
  close(): Promise<void>;
}

/** A query as its own process runs it. */
export interface RunningQuery<Column, Rows> {
  columns(): readonly Column[];
  take(): Rows | Promise<Rows>;
}

interface Result<Rows> {
  readonly signal: AbortSignal;
  readonly first: Rows;
  /** Converts rows, given the number of rows before them in the result. */
  readonly batchOf: (rows: Rows, before: number) => Batch;
  readonly problemOf: (thrown: unknown) => unknown;
}

/**
 * The result of a query as batches, up to the first empty one. Closes the reader at the end, after an error, and when the
 * consumer stops early, even if that is before the first batch.
 */
export class ReaderBatches<Rows> implements AsyncIterableIterator<Batch, void, void> {
  readonly #reader: QueryReader<never, unknown, Rows>;
  readonly #result: Result<Rows>;
  /** The next rows are prefetched while the consumer processes the previous ones. */
  #next: Promise<Rows> | undefined;
  #before = 0;

  constructor(reader: QueryReader<never, unknown, Rows>, result: Result<Rows>) {
    this.#reader = reader;
    this.#result = result;
    this.#next = Promise.resolve(result.first);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Batch, void>> {
    const { signal, batchOf, problemOf } = this.#result;
    if (this.#next === undefined) return { done: true, value: undefined };
    try {
      signal.throwIfAborted();
      const batch = batchOf(await this.#next, this.#before);
      if (batch.length === 0) return await this.return();
      this.#before += batch.length;
      this.#next = this.#reader.rows();
      this.#next.catch(() => {});
      return { done: false, value: batch };
    } catch (thrown) {
      await this.return();
      throw signal.aborted ? signal.reason : problemOf(thrown);
    }
  }

  async return(): Promise<{ done: true; value: undefined }> {
    this.#next = undefined;
    await this.#reader.close();
    return { done: true, value: undefined };
  }
}
