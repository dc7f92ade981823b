import { Writable } from 'node:stream';

/** High-water mark in bytes. */
const maxWaiting = 1024 * 1024;

/**
 * Buffers the bytes of a transfer. If the transfer breaks, the reader still gets all bytes that have arrived: a destroyed stream
 * would drop them, and the resumed transfer would fetch them again.
 */
export class Arrivals extends Writable {
  #chunks: Uint8Array[] = [];
  #waiting = 0;
  #isComplete = false;
  #release: (() => void) | undefined;
  #wake: () => void = () => undefined;

  constructor() {
    super({ highWaterMark: maxWaiting / 4 });
    // Ignored here, because the caller that started the transfer gets the error.
    this.on('error', () => undefined);
  }

  /**
   * All bytes up to the transfer's end or failure. Each chunk contains everything that has arrived since the last one:
   * TLS records are 16 kB, and joining them costs less than writing each one to disk.
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
