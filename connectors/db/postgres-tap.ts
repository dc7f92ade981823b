import type { Duplex } from 'node:stream';
import type { Client } from 'pg';
import { Problem } from '#sdk';
import { ReadingSocket } from './reading-socket.ts';
import { blockBytes, type SpanBlock } from './span-block.ts';

/**
 * Everything of pg that is not in its documented interface stands in this file: a client has `connection.stream`, the
 * socket (TLS or not), whose only 'data' listener is pg's message parser. All we do is stand between the two: DataRow
 * messages stay here as spans over bytes, everything else goes on to pg's parser as whole messages.
 */
export interface Wire {
  readonly stream: Duplex;
  readonly parser: (bytes: Buffer) => void;
}

/** The socket and parser of a connected client; says clearly when pg is built otherwise than we know it. */
export function wireOf(client: Client): Wire {
  const stream = (client as { connection?: { stream?: Duplex } }).connection?.stream;
  const listeners = stream?.listeners('data') ?? [];
  if (stream === undefined || listeners.length !== 1) {
    throw new Problem({
      code: 'DB_DRIVER_CHANGED',
      family: 'bug',
      message: `the pg package has changed inside: ${listeners.length} readers on its socket instead of 1`,
      next: 'install the version of pg that the lock file names',
    });
  }
  return { stream, parser: listeners[0] as (bytes: Buffer) => void };
}

const dataRow = 68; // 'D'
const headerBytes = 5;
const nothing = Buffer.alloc(0);

/**
 * Cuts DataRow messages out of what a server sends. Bytes are gathered into blocks of our own, so that a row split
 * over two packets is whole, cells may be rewritten where they stand, and small TLS records still make full batches.
 */
export class PostgresTap {
  readonly #wire: Wire;
  readonly #block: SpanBlock;
  readonly #width: number;
  readonly #onFault: (thrown: unknown) => void;
  #bytes: Buffer;
  /** Bytes received into the block. */
  #filled = 0;
  /** Where the first message that is not yet handled begins. */
  #at = 0;
  #taking = false;
  #released = false;

  constructor({ wire, block, width, onFault }: TapSettings) {
    this.#wire = wire;
    this.#block = block;
    this.#bytes = block.renew();
    this.#width = width;
    this.#onFault = onFault;
    wire.stream.on('data', this.#receive);
    wire.stream.off('data', wire.parser);
    if (wire.stream instanceof ReadingSocket) wire.stream.lend();
  }

  /** Gives the socket back to pg, together with whatever was not handled yet. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    if (this.#wire.stream instanceof ReadingSocket) this.#wire.stream.own();
    this.#wire.stream.on('data', this.#wire.parser);
    this.#wire.stream.off('data', this.#receive);
    this.#wire.stream.resume();
    if (!this.#taking) this.#passOn(nothing);
  }

  /** Hands on the rows that wait for their batch to fill. */
  flush(): void {
    this.#block.flush(this.#bytes, this.#at);
  }

  readonly #receive = (chunk: Buffer): void => {
    this.#taking = true;
    try {
      this.#take(chunk);
    } catch (thrown) {
      this.#onFault(thrown);
    } finally {
      this.#taking = false;
    }
  };

  #take(chunk: Buffer): void {
    for (let taken = 0; taken < chunk.length; ) {
      const part = Math.min(this.#bytes.length - this.#filled, chunk.length - taken);
      chunk.copy(this.#bytes, this.#filled, taken, taken + part);
      this.#filled += part;
      taken += part;
      this.#read();
      if (this.#released) {
        this.#passOn(chunk.subarray(taken));
        return;
      }
      if (this.#filled === this.#bytes.length) this.#renew();
    }
  }

  /** After the release nothing is ours any more: pg gets the unread rest, whole messages or not. */
  #passOn(chunk: Buffer): void {
    const rest = this.#bytes.subarray(this.#at, this.#filled);
    for (const bytes of [rest, chunk]) {
      // The parser keeps half a message; the memory here is used again.
      if (bytes.length > 0) this.#wire.parser.call(this.#wire.stream, Buffer.from(bytes));
    }
  }

  #read(): void {
    const bytes = this.#bytes;
    const filled = this.#filled;
    while (filled - this.#at >= headerBytes) {
      const at = this.#at;
      const end = at + 1 + bytes.readInt32BE(at + 1);
      if (end > filled) return;
      if (bytes[at] === dataRow) this.#row(at + headerBytes);
      this.#at = end;
      if (bytes[at] !== dataRow) this.#wire.parser.call(this.#wire.stream, bytes.subarray(at, end));
      else if (this.#block.isFull) this.#block.flush(bytes, end);
      if (this.#released) return;
    }
  }

  #row(p: number): void {
    const b = this.#bytes;
    const width = this.#width;
    if (((b[p]! << 8) | b[p + 1]!) !== width) throw brokenProtocol();
    p += 2;
    const spans = this.#block.spans;
    let s = 2 * width * this.#block.rows++;
    for (let i = 0; i < width; i++) {
      const length = (b[p]! << 24) | (b[p + 1]! << 16) | (b[p + 2]! << 8) | b[p + 3]!;
      p += 4;
      if (length < 0) {
        spans[s++] = -1;
        spans[s++] = -1;
      } else {
        spans[s++] = p;
        p += length;
        spans[s++] = p;
      }
    }
  }

  /** Begins a new block with the message that did not fit; one that is larger than a block gets one of its size. */
  #renew(): void {
    this.#block.flush(this.#bytes, this.#at);
    const left = this.#filled - this.#at;
    const whole = left < headerBytes ? headerBytes : 1 + this.#bytes.readInt32BE(this.#at + 1);
    const renewed = this.#block.renew(Math.max(blockBytes, whole));
    this.#bytes.copy(renewed, 0, this.#at, this.#filled);
    this.#bytes = renewed;
    this.#at = 0;
    this.#filled = left;
  }
}

export interface TapSettings {
  readonly wire: Wire;
  readonly block: SpanBlock;
  readonly width: number;
  /** Called with whatever goes wrong while reading; the connection is of no use after that. */
  readonly onFault: (thrown: unknown) => void;
}

function brokenProtocol(): Problem {
  return new Problem({
    code: 'DB_PROTOCOL',
    family: 'try_later',
    message: 'the server sent a row with another number of columns than it had announced',
  });
}
