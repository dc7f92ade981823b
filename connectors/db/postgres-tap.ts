import type { Duplex } from 'node:stream';
import type { Client } from 'pg';
import { blockBytes, type SpanBlock } from './span-block.ts';
import { otherColumns, Tap, type TapSettings, type Wire, wireOf } from './tap.ts';

/** Everything of pg that is not in its documented interface: a client has `connection.stream`, and pg's parser reads it. */
export function pgWire(client: Client): Wire {
  return wireOf((client as { connection?: { stream?: Duplex } }).connection?.stream, 'pg');
}

const dataRow = 68; // 'D'
const headerBytes = 5;

/**
 * Cuts DataRow messages out of what PostgreSQL sends, as spans over bytes; everything else goes on to pg's parser as
 * whole messages.
 */
export class PostgresTap extends Tap {
  readonly #block: SpanBlock;
  readonly #width: number;

  constructor({ block, width, ...settings }: PostgresTapSettings) {
    super({ ...settings, bytes: block.renew() });
    this.#block = block;
    this.#width = width;
  }

  /** Hands on the rows that wait for their batch to fill. */
  flush(): void {
    this.#block.flush(this.bytes, this.at);
  }

  protected override cut(): void {
    const bytes = this.bytes;
    const filled = this.filled;
    while (filled - this.at >= headerBytes) {
      const at = this.at;
      const end = at + 1 + bytes.readInt32BE(at + 1);
      if (end > filled) return;
      if (bytes[at] === dataRow) this.#row(at + headerBytes);
      this.at = end;
      if (bytes[at] !== dataRow) this.pass(bytes.subarray(at, end));
      else if (this.#block.isFull) this.#block.flush(bytes, end);
      if (this.released) return;
    }
  }

  #row(p: number): void {
    const b = this.bytes;
    const width = this.#width;
    if (((b[p]! << 8) | b[p + 1]!) !== width) throw otherColumns();
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

  /** A message that is larger than a block gets one of its size. */
  protected override renew(): Buffer {
    this.flush();
    const left = this.filled - this.at;
    const whole = left < headerBytes ? headerBytes : 1 + this.bytes.readInt32BE(this.at + 1);
    return this.#block.renew(Math.max(blockBytes, whole));
  }
}

export interface PostgresTapSettings extends Omit<TapSettings, 'bytes'> {
  readonly block: SpanBlock;
  readonly width: number;
}
