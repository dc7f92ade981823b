import type { Duplex } from 'node:stream';
import type { Connection, QueryOptions } from 'mysql2';
import { type ConnectorLog, cutText, guardStream } from '#sdk';
import { brokenProtocol, unreadable } from './broken-protocol.ts';
import { MysqlInterceptor } from './mysql-interceptor.ts';
import type { Field } from './mysql-types.ts';
import { manyResults, noRows } from './result-problems.ts';
import { wireOf } from './row-interceptor.ts';
import type { SpanBlock } from './span-block.ts';

/** The first five bytes: the length, the sequence number, and either the protocol version or 0xff for an error. */
const headBytes = 5;
/** https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake.html */
const firstBytes: ReadonlySet<number | undefined> = new Set([9, 10, 0xff]);

/**
 * Rejects a server whose first bytes aren't a MySQL greeting. The driver would interpret these bytes as a packet length
 * and wait for the packet, so an SSH or SMTP server on the port would seem unresponsive.
 *
 * @param stream a guarded socket, which is closed if one of its listeners throws.
 */
function checkGreeting(stream: Duplex): void {
  let head = Buffer.alloc(0);
  const look = (bytes: Buffer): void => {
    head = Buffer.concat([head, bytes.subarray(0, 100)]);
    if (head.length < headBytes) return;
    stream.off('data', look);
    if (!firstBytes.has(head[headBytes - 1])) throw brokenProtocol('no MySQL or MariaDB greeting', textOf(head));
  };
  stream.prependListener('data', look);
}

function textOf(bytes: Buffer): string {
  const [line = ''] = bytes.toString('latin1').split(/[\r\n]/);
  return /^[ -~]+$/.test(line) ? cutText(line, 100) : `0x${bytes.subarray(0, 16).toString('hex')}`;
}

/**
 * Everything that uses mysql2's undocumented interface is in this file. A connection has a `stream`: its socket (TLS or
 * not), with the packet parser as the only 'data' listener. A query command without a callback emits `fields` after the
 * last column and before the next packet is read. It emits `end` at the end, with or without an error. mysql2's console
 * output is suppressed, see {@link keepFromConsole}.
 */
interface Command {
  on(event: 'fields', listener: (fields: Field[] | undefined) => void): Command;
  on(event: 'error', listener: (reason: unknown) => void): Command;
  on(event: 'end', listener: () => void): Command;
}

/** A connection's socket, with or without TLS. */
export function streamOf(connection: Connection): Duplex {
  const { stream } = connection as unknown as { stream?: Duplex };
  return stream ?? wireOf(stream, 'mysql2').stream;
}

/**
 * Guards a new connection's socket, and also its TLS socket, which mysql2 creates later. Redirects the driver's console
 * output to the log.
 */
export function guardConnection(connection: Connection, log: ConnectorLog): void {
  const guarded = connection as unknown as { startTLS(then: (failure?: Error) => void): void };
  checkGreeting(guardStream(streamOf(connection), unreadable));
  const startTls = guarded.startTLS.bind(guarded);
  guarded.startTLS = (then) => {
    startTls(then);
    guardStream(streamOf(connection), unreadable);
  };
  keepFromConsole(connection, log);
}

interface Packet {
  readonly sequenceId: number;
  readLengthCodedNumberExt: ReadNumber & { isQuiet?: true };
}

type ReadNumber = (first: number | undefined, ...rest: unknown[]) => unknown;

interface Handling {
  /** Expected sequence number of the next packet. */
  sequenceId: number;
  readonly _command: unknown;
  handlePacket(packet?: Packet): void;
}

/**
 * mysql2 prints a line for each packet with an unexpected sequence number, and a stack trace for an invalid length.
 * This function logs an unexpected sequence number once per connection, because some harmless proxies number packets
 * differently. It closes the connection after an invalid length.
 */
function keepFromConsole(connection: Connection, log: ConnectorLog): void {
  const handling = connection as unknown as Handling;
  const handle = handling.handlePacket.bind(handling);
  let isTold = false;
  handling.handlePacket = (packet) => {
    if (packet !== undefined) {
      refuseOddLengths(packet);
      const { sequenceId: expected } = handling;
      if (handling._command && packet.sequenceId !== expected) {
        if (!isTold) log.warn('the server sent packets out of order', { expected, seen: packet.sequenceId });
        isTold = true;
        handling.sequenceId = packet.sequenceId;
      }
    }
    handle(packet);
  };
}

/**
 * The largest possible first byte of a length: https://mariadb.com/kb/en/protocol-data-types/#length-encoded-integers
 */
const maxFirstByte = 0xfe;

function refuseOddLengths(packet: Packet): void {
  const read = packet.readLengthCodedNumberExt;
  if (read.isQuiet) return;
  const quiet: Packet['readLengthCodedNumberExt'] = function readLength(this: Packet, first, ...rest) {
    if (first === undefined || first > maxFirstByte) throw brokenProtocol('an invalid length');
    return read.call(this, first, ...rest);
  };
  quiet.isQuiet = true;
  (Object.getPrototypeOf(packet) as Packet).readLengthCodedNumberExt = quiet;
}

export interface RowsOptions {
  readonly sql: string;
  /** Called when the columns are known. Returns the receiver for the rows. */
  readonly begin: (fields: readonly Field[]) => SpanBlock;
  /** Called after the last row, with the number of warnings. */
  readonly end: (warnings: number) => void;
  readonly fail: (reason: unknown) => void;
}

/**
 * Runs one statement and returns its rows as spans over bytes. After `fail` is called, the connection can't be used
 * again.
 */
export function readRows(connection: Connection, { sql, begin, end, fail }: RowsOptions): void {
  let hasColumns = false;
  let failed = false;
  const stop = (reason: unknown) => {
    failed = true;
    tap.drop();
    fail(reason);
  };
  const guard = (act: () => void) => {
    try {
      if (!failed) act();
    } catch (thrown) {
      stop(thrown);
    }
  };
  // mysql2 compiles a row parser even though it never receives rows, and the compiled parser rejects a column named
  // `__proto__`. With compilation disabled, mysql2 uses a parser that ignores names.
  const command = connection.query({ sql, disableEval: true } as QueryOptions) as unknown as Command;
  const tap = new MysqlInterceptor({ wire: wireOf(streamOf(connection), 'mysql2'), onFault: stop });
  command.on('fields', (fields) =>
    guard(() => {
      if (fields === undefined) return;
      if (hasColumns) throw manyResults();
      hasColumns = true;
      tap.begin(begin(fields), fields.length);
    }),
  );
  command.on('error', stop);
  command.on('end', () =>
    guard(() => {
      if (!hasColumns) throw noRows();
      tap.release();
      end(tap.warnings);
    }),
  );
}
