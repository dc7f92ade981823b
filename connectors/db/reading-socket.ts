import { Socket } from 'node:net';

/** Servers send 8 kB at a time. If data has piled up while we were busy, up to this many bytes are read at once. */
const bufferBytes = 128 * 1024;

/**
 * A socket that reads into a single buffer. By default, Node would allocate a new one for each of the thousands of
 * chunks of a large result. A chunk is valid only until its `data` listener returns. Some listeners keep chunks, for
 * example pg's parser if a message is incomplete, so listeners get copies until {@link startLending} is called.
 */
export class ReadingSocket extends Socket {
  #lends = false;

  constructor() {
    const buffer = Buffer.allocUnsafeSlow(bufferBytes);
    super({
      // Node supports this option here and in `connect`, but its types declare it only there.
      ...{ onread: { buffer, callback: (length: number) => this.#hand(buffer.subarray(0, length)) } },
    });
  }

  /** From now on, listeners share the buffer and must copy what they keep. */
  startLending(): void {
    this.#lends = true;
  }

  /** From now on, listeners get copies again. */
  stopLending(): void {
    this.#lends = false;
  }

  #hand(bytes: Buffer): boolean {
    this.emit('data', this.#lends ? bytes : Buffer.from(bytes));
    return true;
  }
}
