import type { Duplex } from 'node:stream';
import { Problem } from '#sdk';
import { unreadable } from './broken-protocol.ts';
import { ReadingSocket } from './reading-socket.ts';

/**
 * The socket of a driver's connection, with or without TLS, and the socket's only data listener: the driver's parser.
 */
export interface Wire {
  readonly stream: Duplex;
  readonly parser: (bytes: Buffer) => void;
}

/** Returns a stream's socket and data listener. Throws if the driver's internals have changed. */
export function wireOf(stream: Duplex | undefined, driver: string): Wire {
  const listeners = stream?.listeners('data') ?? [];
  if (stream === undefined || listeners.length !== 1) {
    throw new Problem({
      code: 'DB_DRIVER_CHANGED',
      family: 'bug',
      message: `unsupported ${driver} package: its socket has ${listeners.length} readers instead of 1`,
      next: `install the ${driver} version in the lock file`,
    });
  }
  return { stream, parser: listeners[0] as (bytes: Buffer) => void };
}

export interface RowInterceptorOptions {
  readonly wire: Wire;
  /** The first block. */
  readonly bytes: Buffer;
  /** Called with any error that occurs during the read. After that, the connection can't be used again. */
  readonly onFault: (thrown: unknown) => void;
}

const nothing = Buffer.alloc(0);

/**
 * Intercepts rows between a socket and a driver's parser, so that the driver never parses them. Bytes are collected in
 * Sluice's own blocks. Rows that are split across two packets thus become contiguous, cells can be rewritten in place,
 * and small TLS records still fill whole batches. Subclasses know the messages of their protocol.
 */
export abstract class RowInterceptor {
  readonly #wire: Wire;
  readonly #onFault: (thrown: unknown) => void;
  protected bytes: Buffer;
  /** Bytes received into the block. */
  protected filled = 0;
  /** Offset of the first message that hasn't been handled. */
  protected at = 0;
  /** Whether the socket was returned to the driver. */
  protected released = false;
  #taking = false;
  /** Whether parsing has failed. Later bytes are then ignored. */
  #isFaulty = false;

  constructor({ wire, bytes, onFault }: RowInterceptorOptions) {
    this.#wire = wire;
    this.bytes = bytes;
    this.#onFault = onFault;
    wire.stream.on('data', this.#receive);
    wire.stream.off('data', wire.parser);
    if (wire.stream instanceof ReadingSocket) wire.stream.startLending();
  }

  /** Handles complete messages, starting at `at`, until a message is incomplete or the socket is released. */
  protected abstract parse(): void;

  /** Returns a block that is large enough for the incomplete message at `at`. */
  protected abstract newBlock(): Buffer;

  /** Forwards a message to the driver. */
  protected forward(message: Buffer): void {
    this.#wire.parser.call(this.#wire.stream, message);
  }

  /** Moves the bytes that haven't been handled to a new block. */
  protected moveTo(renewed: Buffer): void {
    this.bytes.copy(renewed, 0, this.at, this.filled);
    this.bytes = renewed;
    this.filled -= this.at;
    this.at = 0;
  }

  /** Returns the socket to the driver, together with all bytes that haven't been handled yet. */
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
      // The driver's parser may throw, and no caller would catch that error.
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

  /** Forwards all unread bytes to the driver, even if the last message is incomplete. */
  #forwardRest(chunk: Buffer): void {
    const rest = this.bytes.subarray(this.at, this.filled);
    for (const bytes of [rest, chunk]) {
      // The bytes are copied, because the parser keeps incomplete messages and this memory is reused.
      if (bytes.length > 0) this.forward(Buffer.from(bytes));
    }
  }
}
