import { Socket } from 'node:net';

/**
 * Maximum number of bytes to read at once. Servers send 8 kB at a time, but more data may have arrived while the
 * process was busy.
 */
const bufferBytes = 128 * 1024;

/**
 * A socket that reads into a single buffer. By default, Node would allocate a new buffer for each of the thousands of
 * chunks of a large result. A chunk is valid only until its `data` listener returns. Some listeners keep chunks, such
 * as pg's parser if a message is incomplete. Listeners therefore receive copies until {@link startLending} is called.
 */
export class ReadingSocket extends Socket {
  #lends = false;

  constructor() {
    const buffer = Buffer.allocUnsafeSlow(bufferBytes);
    super({
      // Node supports this option both here and in `connect`, but its types declare the option only in `connect`.
      ...{ onread: { buffer, callback: (length: number) => this.#hand(buffer.subarray(0, length)) } },
    });
  }

  /** From now on, listeners receive the shared buffer and must copy the bytes that they keep. */
  startLending(): void {
    this.#lends = true;
  }

  /** From now on, listeners receive copies again. */
  stopLending(): void {
    this.#lends = false;
  }

  #hand(bytes: Buffer): boolean {
    this.emit('data', this.#lends ? bytes : Buffer.from(bytes));
    return true;
  }
}

/**
 * Calls `then` after reading all data that has arrived so far. If the server has ended an idle session, it has already
 * sent the reason, and a write would break the connection before that reason is read. The first tick of the event loop
 * starts the read, and the second one completes it.
 */
export function whenHeard(then: () => void): void {
  setImmediate(() => setImmediate(then));
}
