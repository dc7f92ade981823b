import type { Duplex } from 'node:stream';
import type { Client } from 'pg';
import { brokenProtocol, otherColumns } from './broken-protocol.ts';
import { endOfMessage, headerBytes } from './postgres-messages.ts';
import { RowInterceptor, type RowInterceptorOptions, type Wire, wireOf } from './row-interceptor.ts';
import { blockBytes, type SpanBlock } from './span-block.ts';

/** pg's undocumented interface: a client has a `connection.stream`, from which pg's parser reads. */
export function pgWire(client: Client): Wire {
  return wireOf((client as { connection?: { stream?: Duplex } }).connection?.stream, 'pg');
}

const bindComplete = 50; // '2'
const commandComplete = 67; // 'C'
const dataRow = 68; // 'D'
const portalSuspended = 115; // 's'
const readyForQuery = 90; // 'Z'

/**
 * A statement's stage. Rows are valid only after the server has accepted the parameters and before the statement ends.
 */
type Stage = 'begun' | 'bound' | 'complete';

/**
 * Intercepts PostgreSQL's DataRow messages as spans over bytes. Forwards all other messages to pg's parser, one
 * complete message at a time.
 */
export class PostgresInterceptor extends RowInterceptor {
  readonly #block: SpanBlock;
  readonly #width: number;
  #stage: Stage = 'begun';

  constructor({ block, width, ...settings }: PostgresInterceptorOptions) {
    super({ ...settings, bytes: block.renew() });
    this.#block = block;
    this.#width = width;
  }

  /** Passes on the rows of an incomplete batch. */
  flush(): void {
    this.#block.flush(this.bytes, this.at);
  }

  protected override parse(): void {
    const bytes = this.bytes;
    const filled = this.filled;
    while (filled - this.at >= headerBytes) {
      const at = this.at;
      const end = endOfMessage(bytes, at);
      if (end > filled) return;
      if (bytes[at] === dataRow) {
        this.#row(at + headerBytes, end);
        this.at = end;
        if (this.#block.isFull) this.#block.flush(bytes, end);
      } else {
        this.#follow(bytes[at]!);
        this.at = end;
        this.forward(bytes.subarray(at, end));
      }
      if (this.released) return;
    }
  }

  /** Checks the order of the server's responses. pg accepts any order, so rows could be lost without an error. */
  #follow(type: number): void {
    if (type === bindComplete) this.#stage = 'bound';
    else if (type === portalSuspended) this.#expect('bound', 'a part of the rows');
    else if (type === readyForQuery) this.#expect('complete', 'the end of a statement');
    else if (type === commandComplete) {
      if (this.#stage === 'begun') this.#expect('bound', 'the end of the rows');
      this.#stage = 'complete';
    }
  }

  #expect(stage: Stage, what: string): void {
    if (this.#stage !== stage) throw brokenProtocol(`${what} out of order`);
  }

  #row(p: number, end: number): void {
    const b = this.bytes;
    const width = this.#width;
    this.#expect('bound', 'a row');
    if (((b[p]! << 8) | b[p + 1]!) !== width) throw otherColumns();
    p += 2;
    const spans = this.#block.spans;
    let s = 2 * width * this.#block.rows;
    for (let i = 0; i < width; i++) {
      const length = (b[p]! << 24) | (b[p + 1]! << 16) | (b[p + 2]! << 8) | b[p + 3]!;
      p += 4;
      if (length < 0) {
        if (length !== -1) throw otherColumns();
        spans[s++] = -1;
        spans[s++] = -1;
      } else {
        spans[s++] = p;
        p += length;
        spans[s++] = p;
      }
    }
    if (p !== end) throw otherColumns();
    this.#block.rows++;
  }

  /** If a message is larger than a block, it gets a block of its own size. */
  protected override newBlock(): Buffer {
    this.flush();
    const left = this.filled - this.at;
    const whole = left < headerBytes ? headerBytes : endOfMessage(this.bytes, this.at) - this.at;
    return this.#block.renew(Math.max(blockBytes, whole));
  }
}

export interface PostgresInterceptorOptions extends Omit<RowInterceptorOptions, 'bytes'> {
  readonly block: SpanBlock;
  readonly width: number;
}
