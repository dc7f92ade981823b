import type { Duplex } from 'node:stream';
import { cutText } from '#sdk';
import { brokenProtocol } from './broken-protocol.ts';

/** Four bytes for length and sequence number, then the protocol version, or 0xff for an error. */
const headBytes = 5;
/** https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake.html */
const firstBytes: ReadonlySet<number | undefined> = new Set([9, 10, 0xff]);

/**
 * Refuses a server that does not start with a MySQL greeting. The driver would interpret other bytes as the length of a
 * packet and wait for it, so an SSH or SMTP server on the port would seem not to respond.
 * @param stream a guarded socket: an error thrown by its listeners ends it.
 */
export function checkGreeting(stream: Duplex): void {
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
