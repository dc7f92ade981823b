import { Socket } from 'node:net';

/** A server sends eight kilobytes at a time; when we were busy meanwhile, this much is read at once. */
const bufferBytes = 128 * 1024;

/**
 * A socket that reads into a single buffer: Node otherwise allocates a new one for each of the thousands of chunks of a
 * large result. A chunk is valid until its `data` listener returns. A listener that may keep it, as pg's parser does with
 * half a message, gets copies until {@link startLending} is called.
 */
export class ReadingSocket extends Socket {
  #lends = false;

  constructor() {
    const buffer = Buffer.allocUnsafeSlow(bufferBytes);
    super({
      // Node reads this option here as it does in connect; its types know it only there.
      ...{ onread: { buffer, callback: (length: number) => this.#hand(buffer.subarray(0, length)) } },
    });
  }

  /** From now on listeners share the buffer and copy what they keep. */
  startLending(): void {
    this.#lends = true;
  }

  /** From now on listeners get copies again. */
  stopLending(): void {
    this.#lends = false;
  }

  #hand(bytes: Buffer): boolean {
    this.emit('data', this.#lends ? bytes : Buffer.from(bytes));
    return true;
  }
}
