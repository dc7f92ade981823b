import type { Duplex } from 'node:stream';
import { Problem } from '#sdk';
import { unreadable } from './broken-protocol.ts';
import { ReadingSocket } from './reading-socket.ts';

/** The socket of a driver's connection, TLS or not, and the one listener to its bytes: the driver's parser. */
export interface Wire {
  readonly stream: Duplex;
  readonly parser: (bytes: Buffer) => void;
}

/** The wire of a stream; says clearly when the driver is built otherwise than we know it. */
export function wireOf(stream: Duplex | undefined, driver: string): Wire {
  const listeners = stream?.listeners('data') ?? [];
  if (stream === undefined || listeners.length !== 1) {
    throw new Problem({
      code: 'DB_DRIVER_CHANGED',
      family: 'bug',
      message: `the ${driver} package has changed inside: ${listeners.length} readers on its socket instead of 1`,
      next: `install the version of ${driver} that the lock file names`,
    });
  }
  return { stream, parser: listeners[0] as (bytes: Buffer) => void };
}

export interface RowInterceptorOptions {
  readonly wire: Wire;
  /** Where bytes are gathered at first. */
  readonly bytes: Buffer;
  /** Called with whatever goes wrong while reading; the connection is of no use after that. */
  readonly onFault: (thrown: unknown) => void;
}

const nothing = Buffer.alloc(0);

/**
 * Stands between a socket and a driver's parser, so that rows never see the driver. Bytes are gathered into blocks of our
 * own: a row split over two packets is whole, cells may be rewritten where they stand, and small TLS records still make
 * full batches. What a message is, and which ones are rows, each protocol knows for itself.
 */
export abstract class RowInterceptor {
  readonly #wire: Wire;
  readonly #onFault: (thrown: unknown) => void;
  protected bytes: Buffer;
  /** Bytes received into the block. */
  protected filled = 0;
  /** Where the first message that is not yet handled begins. */
  protected at = 0;
  /** Nothing is ours any more. */
  protected released = false;
  #taking = false;
  /** What came could not be read; what follows has no meaning. */
  #isFaulty = false;

  constructor({ wire, bytes, onFault }: RowInterceptorOptions) {
    this.#wire = wire;
    this.bytes = bytes;
    this.#onFault = onFault;
    wire.stream.on('data', this.#receive);
    wire.stream.off('data', wire.parser);
    if (wire.stream instanceof ReadingSocket) wire.stream.startLending();
  }

  /** Handles the whole messages in the block from `at` on, until one is not whole or the socket is released. */
  protected abstract parse(): void;

  /** A block with room for all of the message that is not whole yet; it begins at `at`. */
  protected abstract newBlock(): Buffer;

  /** Hands a message to the driver. */
  protected forward(message: Buffer): void {
    this.#wire.parser.call(this.#wire.stream, message);
  }

  /** What was not handled yet stands in a block of its own. */
  protected moveTo(renewed: Buffer): void {
    this.bytes.copy(renewed, 0, this.at, this.filled);
    this.bytes = renewed;
    this.filled -= this.at;
    this.at = 0;
  }

  /** Gives the socket back to the driver, together with whatever was not handled yet. */
  release(): void {
    if (this.released) return;
    this.released = true;
    if (this.#wire.stream instanceof ReadingSocket) this.#wire.stream.stopLending();
    this.#wire.stream.on('data', this.#wire.parser);
    this.#wire.stream.off('data', this.#receive);
    this.#wire.stream.resume();
    if (this.#taking || this.#isFaulty) return;
    try {
      this.#forwardRest(nothing);
    } catch (thrown) {
      // Nothing above this call guards the driver's parser.
      this.#wire.stream.destroy(unreadable(thrown));
    }
  }

  readonly #receive = (chunk: Buffer): void => {
    if (this.#isFaulty) return;
    this.#taking = true;
    try {
      this.#take(chunk);
    } catch (thrown) {
      this.#isFaulty = true;
      this.#onFault(thrown);
    } finally {
      this.#taking = false;
    }
  };

  #take(chunk: Buffer): void {
    for (let taken = 0; taken < chunk.length; ) {
      const part = Math.min(this.bytes.length - this.filled, chunk.length - taken);
      chunk.copy(this.bytes, this.filled, taken, taken + part);
      this.filled += part;
      taken += part;
      this.parse();
      if (this.released) {
        this.#forwardRest(chunk.subarray(taken));
        return;
      }
      if (this.filled === this.bytes.length) this.moveTo(this.newBlock());
    }
  }

  /** The driver gets the unread rest, whole messages or not. */
  #forwardRest(chunk: Buffer): void {
    const rest = this.bytes.subarray(this.at, this.filled);
    for (const bytes of [rest, chunk]) {
      // The parser keeps half a message; the memory here is used again.
      if (bytes.length > 0) this.forward(Buffer.from(bytes));
    }
  }
}
