import { Socket } from 'node:net';

/** A server sends eight kilobytes at a time; when we were busy meanwhile, this much is read at once. */
const bufferBytes = 128 * 1024;

/**
 * A socket that reads into one buffer of its own: Node otherwise makes a new one for each of the ten thousand pieces
 * that a large result comes in. What a `data` listener gets is true until it returns; whoever may keep it, as pg's parser
 * does with half a message, is handed copies unless it said {@link startLending}.
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

  /** From now on listeners copy what they keep; until then they are handed copies. */
  startLending(): void {
    this.#lends = true;
  }

  /** Listeners may keep what they get, again. */
  stopLending(): void {
    this.#lends = false;
  }

  #hand(bytes: Buffer): boolean {
    this.emit('data', this.#lends ? bytes : Buffer.from(bytes));
    return true;
  }
}
