import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Certificate } from '../../servers/certificates.ts';
import { wrapInTls } from './tds-tls.ts';

/**
 * Simulates SQL Server as far as [MS-TDS] defines the wire format: greets, accepts every login except one, and responds
 * to each statement with the test's tokens. It doesn't understand SQL.
 */
export interface TdsServer {
  readonly port: number;
  /** Received statements, in order. */
  readonly heard: string[];
  /** Open connections. */
  open(): number;
  close(): Promise<void>;
}

/** The response to a statement: its tokens, chunk by chunk; `undefined` breaks the connection. */
export type Answer = (sql: string) => Iterable<Buffer | undefined>;

const message = { batch: 1, rpc: 3, answer: 4, login: 16, prelogin: 18 };
const packetBytes = 4096;

interface TdsServerOptions {
  readonly tls?: Certificate | undefined;
  /** The server that logins are redirected to, as the Azure SQL gateway does. */
  readonly redirect?: { readonly server: string; readonly port: number } | undefined;
}

export async function startTdsServer(answer: Answer, { tls, redirect }: TdsServerOptions = {}): Promise<TdsServer> {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    void converse(socket, { heard, answer, tls, redirect }).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    heard,
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Talk extends TdsServerOptions {
  readonly heard: string[];
  readonly answer: Answer;
}

async function converse(socket: Socket, talk: Talk): Promise<void> {
  if (talk.tls === undefined) return talkOver(socket, talk);
  const [greeting] = (await once(socket, 'data')) as [Buffer];
  if (greeting[0] !== message.prelogin) throw new Error('no greeting');
  await send(socket, prelogin(true));
  await talkOver(await wrapInTls(socket, talk.tls), talk);
}

async function talkOver(socket: Socket, { heard, answer, redirect }: Talk): Promise<void> {
  for await (const { type, body } of messagesOf(socket)) {
    const sql = body.toString('utf16le');
    if (type === message.prelogin) await send(socket, prelogin(false));
    else if (type === message.login) await send(socket, isStranger(body) ? refusal : welcome(redirect));
    // The driver's own settings, which it sends after every login.
    else if (sql.includes('set textsize')) await send(socket, done(0xfd));
    else {
      heard.push(sql);
      if (type === message.batch && sql.includes('begin transaction')) await send(socket, done(0xfd));
      else await play(socket, answer(sql));
    }
  }
}

/** Messages are split into packets with eight-byte headers; the second byte marks the last packet. */
async function* messagesOf(socket: Socket): AsyncGenerator<{ type: number; body: Buffer }> {
  let bytes = Buffer.alloc(0);
  let parts: Buffer[] = [];
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    while (bytes.length >= 8 && bytes.length >= bytes.readUInt16BE(2)) {
      const length = bytes.readUInt16BE(2);
      parts.push(bytes.subarray(8, length));
      if ((bytes[1]! & 1) !== 0) {
        yield { type: bytes[0]!, body: Buffer.concat(parts) };
        parts = [];
      }
      bytes = bytes.subarray(length);
    }
  }
}

async function play(socket: Socket, pieces: Iterable<Buffer | undefined>): Promise<void> {
  for (const piece of pieces) {
    if (piece === undefined) {
      socket.resetAndDestroy();
      return;
    }
    await send(socket, piece, false);
  }
  await send(socket, Buffer.alloc(0), true);
}

async function send(socket: Socket, body: Buffer, isLast = true): Promise<void> {
  const most = packetBytes - 8;
  const count = Math.max(1, Math.ceil(body.length / most));
  const packets = Array.from({ length: count }, (_, i) => {
    const part = body.subarray(i * most, (i + 1) * most);
    const header = Buffer.from([message.answer, isLast && i === count - 1 ? 1 : 0, 0, 0, 0, 0, i & 255, 0]);
    header.writeUInt16BE(part.length + 8, 2);
    return Buffer.concat([header, part]);
  });
  socket.write(Buffer.concat(packets));
  while (socket.writableNeedDrain && !socket.destroyed) await wait(1);
}

/** Version 16, with encryption either required or not supported. */
function prelogin(isEncrypted: boolean): Buffer {
  return Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 255, 16, 0, 0, 0, 0, 0, isEncrypted ? 1 : 2]);
}

const words = (text: string) => Buffer.from(text, 'utf16le');
const short = (text: string) => Buffer.concat([Buffer.from([text.length]), words(text)]);
const u16 = (value: number) => Buffer.from([value & 255, value >> 8]);

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function token(kind: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([kind]), u16(body.length), body]);
}

/** DONE (0xfd), or DONEPROC (0xfe) after a statement that was sent as a call. */
export function done(kind = 0xfe, isError = false): Buffer {
  return Buffer.concat([Buffer.from([kind]), u16(isError ? 2 : 0), Buffer.alloc(10)]);
}

export function error(number: number, text: string): Buffer {
  const said = Buffer.concat([u16(text.length), words(text)]);
  const body = Buffer.concat([u32(number), Buffer.from([1, 16]), said, short('double'), short(''), u32(1)]);
  return token(0xaa, body);
}

const acknowledged = token(
  0xad,
  Buffer.concat([Buffer.from([1, 0x74, 0, 0, 4]), short('double'), Buffer.from([16, 0, 0, 0])]),
);

function welcome(redirect: TdsServerOptions['redirect']): Buffer {
  if (redirect === undefined) return Buffer.concat([acknowledged, done(0xfd)]);
  const { server, port } = redirect;
  const to = Buffer.concat([Buffer.from([0]), u16(port), u16(server.length), words(server)]);
  return Buffer.concat([
    acknowledged,
    token(0xe3, Buffer.concat([Buffer.from([20]), u16(to.length), to, u16(0)])),
    done(0xfd),
  ]);
}
const refusal = Buffer.concat([error(18456, "Login failed for user 'stranger'."), done(0xfd, true)]);

function isStranger(login: Buffer): boolean {
  return login.includes(words('stranger'));
}

export interface TdsColumn {
  readonly name: string;
  /** The column's TYPE_INFO, [MS-TDS] 2.2.5.6, in hex. */
  readonly type: string;
}

export function columns(all: readonly TdsColumn[]): Buffer {
  const each = all.map(({ name, type }) =>
    Buffer.concat([u32(0), u16(9), Buffer.from(type.replaceAll(' ', ''), 'hex'), short(name)]),
  );
  return Buffer.concat([Buffer.from([0x81]), u16(all.length), ...each]);
}

/** A row of concatenated values in hex. */
export function row(values: readonly string[]): Buffer {
  return Buffer.concat([Buffer.from([0xd1]), Buffer.from(values.join('').replaceAll(' ', ''), 'hex')]);
}
