import { Writable } from 'node:stream';

/** How many bytes may wait here before the server has to wait. */
const maxWaiting = 1024 * 1024;

/**
 * The bytes of a transfer on their way to their reader. What has arrived is given to the reader also when the transfer
 * breaks: a stream that is destroyed drops what it holds, and the resumed transfer would fetch it again.
 */
export class Arrivals extends Writable {
  #chunks: Uint8Array[] = [];
  #waiting = 0;
  #isComplete = false;
  #release: (() => void) | undefined;
  #wake: () => void = () => undefined;

  constructor() {
    super({ highWaterMark: maxWaiting / 4 });
    // The caller that started the transfer gets its error.
    this.on('error', () => undefined);
  }

  /**
   * All that arrives, to the end of the transfer or to its break, in pieces of what has come meanwhile: TLS gives 16 kB at a time,
   * and to write each of these to the disk costs more than to join them.
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

  /** Nothing more will arrive. */
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
