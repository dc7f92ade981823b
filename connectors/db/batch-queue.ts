import type { Batch } from '#sdk';

/** A socket that can be paused (backpressure). */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/** High-water marks: high enough to keep the reader busy, and low enough to limit memory use. */
const maxBatches = 8;
const maxBytes = 1024 * 1024;

interface Waiting {
  readonly batch: Batch;
  readonly bytes: number;
  readonly release: () => void;
}

/** Queue of batches between a socket and a reader. If the queue is full, it pauses the socket (backpressure). */
export class BatchQueue {
  readonly #tap: Pausable;
  readonly #waiting: Waiting[] = [];
  /** Releases the memory of the reader's current batch. */
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

  /** True while the socket is paused. */
  get isFull(): boolean {
    return this.#paused;
  }

  /** True if the reader has left. */
  get isClosed(): boolean {
    return this.#closed || this.#failure !== undefined;
  }

  /** The reader has stopped. Drops all waiting and later batches. */
  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
  }

  /** Adds a batch. `release` is called when the reader no longer needs the batch. */
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

  /** The result is complete. The reader receives the waiting batches and then the end. */
  end(): void {
    this.#ended = true;
    this.#stir();
  }

  /** The query failed. The reader receives the error immediately. Errors after the first one are ignored. */
  fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#stir();
  }

  /**
   * Returns the next batch, or undefined at the end. The previous batch is then no longer valid. Throws the error that
   * was passed to `fail`.
   */
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

/**
 * Returns the queue as the extraction's batches. Calls `leave` once, when the reader finishes, fails or stops early.
 */
export async function* batchesOf(queue: BatchQueue, leave: () => Promise<void>): AsyncGenerator<Batch, void, void> {
  try {
    for (let batch = await queue.next(); batch !== undefined; batch = await queue.next()) yield batch;
  } finally {
    queue.close();
    await leave();
  }
}

/** Doesn't send anything to the server until the first batch is requested. */
export async function* lazily(start: () => void, batches: () => AsyncGenerator<Batch>): AsyncGenerator<Batch> {
  const inner = batches();
  start();
  yield* inner;
}
