import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

const prelogin = 18;
const headerBytes = 8;

/**
 * The server's side of TLS according to [MS-TDS] 2.2.6.5: the handshake is wrapped in prelogin packets; everything
 * after it is plain TLS. Resolves when the handshake is done.
 */
export async function wrapInTls(socket: Socket, { cert, key }: { cert: string; key: string }): Promise<TLSSocket> {
  let isDone = false;
  let waiting = Buffer.alloc(0);
  const wire = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, callback) {
      socket.write(isDone ? chunk : wrapped(chunk), callback);
    },
  });
  socket.on('data', (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    while (waiting.length > 0) {
      if (waiting[0] !== prelogin) {
        wire.push(waiting);
        waiting = Buffer.alloc(0);
        return;
      }
      if (waiting.length < headerBytes || waiting.length < waiting.readUInt16BE(2)) return;
      const length = waiting.readUInt16BE(2);
      wire.push(waiting.subarray(headerBytes, length));
      waiting = waiting.subarray(length);
    }
  });
  socket.on('close', () => wire.destroy());
  // In TLS 1.3, the packets would no longer contain the data after the handshake.
  const secure = new TLSSocket(wire, { isServer: true, cert, key, maxVersion: 'TLSv1.2' } as object);
  await once(secure, 'secure');
  isDone = true;
  return secure;
}

function wrapped(body: Buffer): Buffer {
  const header = Buffer.from([prelogin, 1, 0, 0, 0, 0, 0, 0]);
  header.writeUInt16BE(body.length + headerBytes, 2);
  return Buffer.concat([header, body]);
}
