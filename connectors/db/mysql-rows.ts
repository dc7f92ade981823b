import type { Duplex } from 'node:stream';
import type { Connection, QueryOptions } from 'mysql2';
import { Problem } from '#sdk';
import type { Field } from './mysql-types.ts';
import { noRows } from './no-rows.ts';
import { ReadingSocket } from './reading-socket.ts';
import { blockBytes, type SpanBlock } from './span-block.ts';

/**
 * Everything of mysql2 that is not in its documented interface stands in this file: a query command is a chain of
 * functions, each handling one packet and returning the next one; `row` handles the packets of a result. An own `row`
 * on the command gets the packets as bytes, before anything is made of them.
 */
export interface Packet {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly end: number;
  isEOF(): boolean;
  eofStatusFlags(): number;
}

type Step = ((packet: Packet) => Step) | null;

interface Command {
  row: (packet: Packet) => Step;
  resultsetHeader: (packet: Packet) => Step;
  done(): Step;
  on(event: 'fields', listener: (fields: Field[] | undefined) => void): Command;
  on(event: 'error', listener: (reason: unknown) => void): Command;
  on(event: 'end', listener: () => void): Command;
}

/** The socket of a connection, TLS or not. Pausing it, not the connection, lets a packet that is here be finished. */
export function streamOf(connection: Connection): Duplex {
  const { stream } = connection as unknown as { stream?: Duplex };
  if (stream === undefined) throw driverChanged();
  return stream;
}

interface Parser {
  execute(chunk: Buffer): void;
  /** Pieces of a packet that is not whole yet. */
  buffer: Buffer[];
  /** Finished parts of a packet of more than 16 MB. */
  largePacketParts: Buffer[];
}

/**
 * From now on the connection's packets stand in the one buffer that its socket reads into, and what the parser keeps of a
 * packet that is not whole is copied. Over TLS there is no such socket, and nothing changes.
 */
export function lendPackets(connection: Connection): void {
  const stream = streamOf(connection);
  if (!(stream instanceof ReadingSocket)) return;
  const { packetParser: parser } = connection as unknown as { packetParser?: Parser };
  const [listener, ...others] = stream.listeners('data');
  if (parser?.execute === undefined || listener === undefined || others.length > 0) throw driverChanged();
  stream.off('data', listener as () => void);
  stream.on('data', (chunk: Buffer) => {
    parser.execute(chunk);
    for (const kept of [parser.buffer, parser.largePacketParts]) {
      const last = kept.length - 1;
      for (let i = last; i >= 0 && kept[i]!.buffer === chunk.buffer; i--) kept[i] = Buffer.from(kept[i]!);
    }
  });
  stream.lend();
}

const moreResults = 8; // SERVER_MORE_RESULTS_EXISTS

export interface RowsSettings {
  readonly sql: string;
  /** The columns are known; what is returned takes the rows. */
  readonly begin: (fields: readonly Field[]) => SpanBlock;
  /** All rows are here. */
  readonly end: () => void;
  readonly fail: (reason: unknown) => void;
}

/** Runs one statement; its rows become spans over bytes. */
export function readRows(connection: Connection, { sql, begin, end, fail }: RowsSettings): void {
  // mysql2 compiles a parser of its own before it looks for ours, and refuses a column named __proto__ while doing so;
  // the one that it takes where compiling is forbidden does not look at names.
  const command = connection.query({ sql, disableEval: true } as QueryOptions) as unknown as Command;
  if (typeof command.row !== 'function' || typeof command.resultsetHeader !== 'function') throw driverChanged();
  let rows: Rows | undefined;
  let failed = false;
  const stop = (reason: unknown) => {
    failed = true;
    fail(reason);
  };
  const guard = (act: () => void) => {
    try {
      if (!failed) act();
    } catch (thrown) {
      stop(thrown);
    }
  };
  command.on('fields', (fields) =>
    guard(() => {
      if (fields !== undefined && rows !== undefined) throw manyResults();
      if (fields !== undefined) rows = new Rows(begin(fields), fields.length);
    }),
  );
  command.on('error', stop);
  command.on('end', () =>
    guard(() => {
      if (rows === undefined) throw noRows();
      end();
    }),
  );
  command.row = function row(packet): Step {
    if (!packet.isEOF()) {
      guard(() => rows?.add(packet));
      return row;
    }
    guard(() => rows?.flush());
    return (packet.eofStatusFlags() & moreResults) === 0 ? command.done() : command.resultsetHeader;
  };
}

/** Copies row packets into blocks of our own, so that a batch has one block and its cells may be rewritten in place. */
class Rows {
  readonly #block: SpanBlock;
  readonly #width: number;
  #bytes: Buffer;
  #filled = 0;

  constructor(block: SpanBlock, width: number) {
    this.#block = block;
    this.#bytes = block.renew();
    this.#width = width;
  }

  add({ buffer, offset, end }: Packet): void {
    const length = end - offset;
    if (this.#filled + length > this.#bytes.length) this.#renew(length);
    buffer.copy(this.#bytes, this.#filled, offset, end);
    this.#spans(this.#filled);
    this.#filled += length;
    if (this.#block.isFull) this.flush();
  }

  flush(): void {
    this.#block.flush(this.#bytes, this.#filled);
  }

  #renew(length: number): void {
    this.flush();
    this.#bytes = this.#block.renew(Math.max(blockBytes, length));
    this.#filled = 0;
  }

  /** Cells are length-encoded strings. https://mariadb.com/kb/en/protocol-data-types/#length-encoded-strings */
  #spans(p: number): void {
    const b = this.#bytes;
    const spans = this.#block.spans;
    let s = 2 * this.#width * this.#block.rows++;
    for (let i = 0; i < this.#width; i++) {
      let length = b[p++]!;
      if (length === 0xfb) {
        spans[s++] = -1;
        spans[s++] = -1;
        continue;
      }
      if (length === 0xfc) {
        length = b[p]! | (b[p + 1]! << 8);
        p += 2;
      } else if (length === 0xfd) {
        length = b[p]! | (b[p + 1]! << 8) | (b[p + 2]! << 16);
        p += 3;
      } else if (length === 0xfe) {
        length = Number(b.readBigUInt64LE(p));
        p += 8;
      }
      spans[s++] = p;
      p += length;
      spans[s++] = p;
    }
  }
}

function driverChanged(): Problem {
  return new Problem({
    code: 'DB_DRIVER_CHANGED',
    family: 'bug',
    message: 'the mysql2 package has changed inside: its connection has no socket, or its query command no row step',
    next: 'install the version of mysql2 that the lock file names',
  });
}

function manyResults(): Problem {
  return new Problem({
    code: 'DB_MANY_RESULTS',
    family: 'job',
    message: 'the statement returns more than one result',
    next: 'call a procedure that has one result, or write a select',
  });
}
