import type { Duplex } from 'node:stream';
import type { Connection } from 'pg';
import { guardStream, Problem } from '#sdk';
import { brokenProtocol, unreadable } from './broken-protocol.ts';
import { wireOf } from './row-interceptor.ts';

/** Size of the message type and the length. The length includes its own four bytes, but not the type. */
export const headerBytes = 5;
/**
 * The maximum size of a message that isn't a row. The largest of these messages is an error that quotes a value from
 * the query.
 */
const maxMessageBytes = 64 * 1024 * 1024;
/** The server's own limit, because it builds each message in memory. */
const maxRowBytes = 0x3fffffff;

/**
 * The end of the message that starts at this position. The message's header must have arrived. The result is never
 * before the end of the header.
 */
export function endOfMessage(bytes: Buffer, at: number): number {
  const length = bytes.readInt32BE(at + 1);
  if (length < headerBytes - 1) throw brokenProtocol(`a message with an invalid length: ${length} bytes`);
  if (length > maxRowBytes) throw brokenProtocol(`an oversized message: ${length} bytes`);
  return at + 1 + length;
}

interface MessageOptions {
  /** Whether the login must be bound to the TLS connection. */
  readonly hasChannelBinding: boolean;
}

/**
 * Validates messages between a connection's socket and pg's parser. The parser receives one complete message at a time,
 * so it never reads beyond a message's end. It never receives a message that would make it loop or throw. Call this
 * function right after `connect`; it also covers the TLS stream, which pg creates later.
 */
export function checkMessages(connection: Connection, { hasChannelBinding }: MessageOptions): void {
  const watched = connection as unknown as { readonly stream: Duplex; on(event: 'sslconnect', then: () => void): void };
  const insert = (stream: Duplex) => insertBefore(stream, hasChannelBinding ? new BoundLogin() : undefined);
  guardStream(watched.stream, unreadable);
  watched.on('sslconnect', () => {
    guardStream(watched.stream, unreadable);
    insert(watched.stream);
  });
  // With TLS, pg's parser doesn't listen before the `sslconnect` event.
  if (!(connection as unknown as { ssl: unknown }).ssl) insert(watched.stream);
}

function insertBefore(stream: Duplex, login: BoundLogin | undefined): void {
  const { parser } = wireOf(stream, 'pg');
  const messages = new Messages((message) => {
    login?.check(message);
    parser.call(stream, message);
  });
  stream.off('data', parser);
  stream.on('data', (bytes: Buffer) => messages.take(bytes));
}

/** Splits a server's byte stream into messages. */
class Messages {
  readonly #pass: (message: Buffer) => void;
  /** The chunks of a message that is still incomplete. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Number of bytes that must arrive before the next attempt to split off a message. */
  #wanted = headerBytes;

  constructor(pass: (message: Buffer) => void) {
    this.#pass = pass;
  }

  take(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes < this.#wanted) return;
    const bytes = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    let at = 0;
    for (let end = this.#end(bytes, at); end <= bytes.length; end = this.#end(bytes, at)) {
      const message = bytes.subarray(at, end);
      at = end;
      check(message);
      this.#pass(message);
    }
    this.#wanted = this.#end(bytes, at) - at;
    this.#bytes = bytes.length - at;
    // The chunk's memory may be reused after this method returns, so the remaining bytes are copied.
    this.#pieces = this.#bytes === 0 ? [] : [Buffer.from(bytes.subarray(at))];
  }

  /** The end of the message, or the end of its header if the header is incomplete. */
  #end(bytes: Buffer, at: number): number {
    if (bytes.length - at < headerBytes) return at + headerBytes;
    const end = endOfMessage(bytes, at);
    if (end - at > maxMessageBytes) throw brokenProtocol(`an oversized message that is not a row: ${end - at} bytes`);
    return end;
  }
}

/** Throws if pg's parser would misread the message, loop or throw. */
function check(message: Buffer): void {
  const type = String.fromCharCode(message[0]!);
  const body = message.subarray(headerBytes);
  if (type === 'R') checkLogin(body);
  else if (type === 'E' || type === 'N') checkFields(body);
  else if (type === 'Z' && body.length !== 1)
    throw brokenProtocol(`a ReadyForQuery message of ${body.length} bytes instead of 1`);
  else if (!knownTypes.includes(type)) throw brokenProtocol(`a message of unknown type ${JSON.stringify(type)}`);
}

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */
const knownTypes = 'RKSZTDCEN123nstAIVvGHWcd';

/** Number of bytes that follow the code in an authentication request, if this number is fixed. */
const loginBytes = new Map([
  [0, 0],
  [3, 0],
  [5, 4],
]);
const ownLengths = new Set([10, 11, 12]);
const unsupported = new Map([
  [2, 'Kerberos V5'],
  [6, 'SCM credentials'],
  [7, 'GSSAPI'],
  [8, 'GSSAPI'],
  [9, 'SSPI'],
]);

function checkLogin(body: Buffer): void {
  if (body.length < 4) throw brokenProtocol('a truncated authentication request');
  const kind = body.readInt32BE(0);
  const bytes = loginBytes.get(kind);
  if (bytes === body.length - 4 || ownLengths.has(kind)) return;
  if (bytes !== undefined)
    throw brokenProtocol(`an authentication request of ${body.length} bytes instead of ${bytes + 4}`);
  throw loginUnsupported(unsupported.get(kind) ?? `an unknown authentication method (${kind})`);
}

const [loginOk, saslMethods, saslFinal] = [0, 10, 12];

/**
 * Refuses a login that isn't bound to the TLS connection, so that a server in between can't forward it. pg binds the
 * login if the server offers it, and verifies the server's signature.
 */
class BoundLogin {
  #isProven = false;

  check(message: Buffer): void {
    if (String.fromCharCode(message[0]!) !== 'R') return;
    const kind = message.readInt32BE(headerBytes);
    if (kind === saslFinal) this.#isProven = true;
    const methods = kind === saslMethods ? message.toString('latin1', headerBytes + 4).split('\0') : [];
    const isBound = kind === saslMethods ? methods.includes('SCRAM-SHA-256-PLUS') : kind > saslMethods;
    if (!isBound && !(kind === loginOk && this.#isProven)) throw notBound();
  }
}

function notBound(): Problem {
  return new Problem({
    code: 'DB_LOGIN_KIND',
    family: 'config',
    message: 'login refused: the server does not support channel binding, which the URL requires',
    allowed: 'the authentication method scram-sha-256 over TLS',
    next: 'remove channel_binding=require from the URL, or change the authentication method on the server',
  });
}

/** For this user, the server requires an authentication method that Sluice doesn't support. */
export function loginUnsupported(kind: string): Problem {
  return new Problem({
    code: 'DB_LOGIN_REFUSED',
    family: 'login',
    message: `login refused: the server requires ${kind}, which Sluice does not support`,
    allowed: 'a password (scram-sha-256, md5, password), a client certificate, or none',
    next: 'add a line with one of these methods for this user to pg_hba.conf, before the line that matches now',
  });
}

/** Each field consists of a type byte and a zero-terminated string. A zero byte ends the list of fields. */
function checkFields(body: Buffer): void {
  let at = 0;
  while (body[at] !== 0) {
    const end = body.indexOf(0, at);
    if (at >= body.length || end < 0) throw brokenProtocol('an unterminated error or notice');
    at = end + 1;
  }
}
