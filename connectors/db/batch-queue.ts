import type { Batch } from '#sdk';

/** What a queue may ask of the socket behind it. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/** Enough for the reader to find the next batch waiting, little enough to stay flat. */
const maxBatches = 8;
const maxBytes = 1024 * 1024;

interface Waiting {
  readonly batch: Batch;
  readonly bytes: number;
  readonly release: () => void;
}

/** Batches on their way from a socket to a reader; pauses the socket while more than a few wait. */
export class BatchQueue {
  readonly #tap: Pausable;
  readonly #waiting: Waiting[] = [];
  /** Gives back the memory of the batch that the reader has. */
  #release: (() => void) | undefined;
  #bytes = 0;
  #paused = false;
  #ended = false;
  #closed = false;
  #failure: { reason: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(tap: Pausable) {
    this.#tap = tap;
  }

  /** True while the reader has more waiting than it needs. */
  get isFull(): boolean {
    return this.#paused;
  }

  /** True when nobody will read any more. */
  get isClosed(): boolean {
    return this.#closed || this.#failure !== undefined;
  }

  /** The reader has gone: what waits is dropped, what still comes is too. */
  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
  }

  /** `release` is called once nobody reads the batch any more. */
  push(batch: Batch, bytes: number, release: () => void): void {
    if (this.isClosed) {
      release();
      return;
    }
    this.#waiting.push({ batch, bytes, release });
    this.#bytes += bytes;
    if (!this.#paused && (this.#waiting.length >= maxBatches || this.#bytes >= maxBytes)) {
      this.#paused = true;
      this.#tap.pause();
    }
    this.#stir();
  }

  /** The result is complete: the reader gets what waits, then the end. */
  end(): void {
    this.#ended = true;
    this.#stir();
  }

  /** The result will never be complete: the reader gets the reason at once. The first reason counts. */
  fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#stir();
  }

  /** The next batch, or undefined at the end; the one before is done with. Throws what `fail` was told. */
  async next(): Promise<Batch | undefined> {
    this.#release?.();
    this.#release = undefined;
    while (this.#waiting.length === 0 && !this.#ended && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== undefined) throw this.#failure.reason;
    return this.#take();
  }

  #take(): Batch | undefined {
    const first = this.#waiting.shift();
    if (first === undefined) return undefined;
    this.#bytes -= first.bytes;
    this.#release = first.release;
    if (this.#paused && this.#waiting.length <= maxBatches / 2 && this.#bytes <= maxBytes / 2) {
      this.#paused = false;
      this.#tap.resume();
    }
    return first.batch;
  }

  #stir(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/** The queue as the batches of an extraction; `leave` runs once, however the reader goes. */
export async function* batchesOf(queue: BatchQueue, leave: () => Promise<void>): AsyncGenerator<Batch, void, void> {
  try {
    for (let batch = await queue.next(); batch !== undefined; batch = await queue.next()) yield batch;
  } finally {
    queue.close();
    await leave();
  }
}
