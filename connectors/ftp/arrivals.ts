import { Writable } from 'node:stream';

/** High-water mark in bytes. */
const maxWaiting = 1024 * 1024;

/**
 * Buffers a transfer's bytes. If the transfer breaks, the reader still receives all bytes that have arrived. A
 * destroyed stream would drop these bytes, and the resumed transfer would fetch them again.
 */
export class Arrivals extends Writable {
  #chunks: Uint8Array[] = [];
  #waiting = 0;
  #isComplete = false;
  #release: (() => void) | undefined;
  #wake: () => void = () => undefined;

  constructor() {
    super({ highWaterMark: maxWaiting / 4 });
    // The error is ignored here, because the caller that started the transfer receives it, too.
    this.on('error', () => undefined);
  }

  /**
   * Yields all bytes until the transfer ends or fails. Each chunk contains all bytes that have arrived since the
   * previous chunk. A TLS record contains at most 16 kB, and joining records costs less than writing each one to disk.
   */
  async *chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#chunks.length > 0) {
        const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
        this.#chunks = [];
        this.#take(bytes.length);
        yield bytes;
      } else if (this.#isComplete) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  #take(bytes: number): void {
    this.#waiting -= bytes;
    if (this.#waiting >= maxWaiting) return;
    const release = this.#release;
    this.#release = undefined;
    release?.();
  }

  /** Marks the end. */
  complete(): void {
    this.#isComplete = true;
    this.#wake();
  }

  override _write(chunk: Uint8Array, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    this.#waiting += chunk.length;
    if (this.#waiting < maxWaiting) done();
    else this.#release = done;
    this.#wake();
  }

  override _final(done: () => void): void {
    this.complete();
    done();
  }
}
