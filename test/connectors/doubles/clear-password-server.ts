import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Certificate } from '../../servers/certificates.ts';

/**
 * CLIENT_LONG_PASSWORD, LONG_FLAG, CONNECT_WITH_DB, PROTOCOL_41, SSL, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH.
 * https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html
 */
const capabilities = 0x8_aa0d;
const sslRequestBytes = 36;

/**
 * A MySQL server of which only the login works, and that asks for the password in clear text, as the plugins of cloud
 * providers and for LDAP do. The servers in `test/servers` have no such plugin.
 */
export async function startClearPasswordServer(password: string, certificate: Certificate) {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.write(packet(0, greeting()));
    const first = await readPacket(socket);
    const isEncrypted = first.length + 4 === sslRequestBytes;
    const stream = isEncrypted ? new TLSSocket(socket, { isServer: true, ...certificate }) : socket;
    stream.on('error', () => {});
    if (isEncrypted) await readPacket(stream);
    const next = isEncrypted ? 3 : 2;
    stream.write(packet(next, Buffer.from('\xfemysql_clear_password\0', 'latin1')));
    const token = (await readPacket(stream)).toString().replace(/\0$/, '');
    received.push(token);
    const answer = token === password ? '\0\0\0\x02\0\0\0' : '\xff\x15\x04#28000Access denied';
    stream.write(packet(next + 2, Buffer.from(answer, 'latin1')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, received, close };
}

function packet(sequence: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([body.length & 0xff, body.length >> 8, 0, sequence]), body]);
}

function greeting(): Buffer {
  const words = (value: number) => Buffer.from([value & 0xff, (value >> 8) & 0xff]);
  return Buffer.concat([
    Buffer.from('\x0a8.0.40\0\x01\0\0\0abcdefgh\0', 'latin1'),
    ...[words(capabilities), Buffer.from([45]), words(2), words(capabilities >> 16)],
    Buffer.from(`\x15${'\0'.repeat(10)}ijklmnopqrst\0mysql_native_password\0`, 'latin1'),
  ]);
}

/** The body of the client's next packet. Leaves what follows it in the stream, such as the start of TLS. */
async function readPacket(stream: Socket): Promise<Buffer> {
  for (;;) {
    const head = stream.read(4) as Buffer | null;
    if (head !== null) {
      const length = head.readUIntLE(0, 3);
      for (;;) {
        const body = stream.read(length) as Buffer | null;
        if (body !== null) return body;
        await once(stream, 'readable');
      }
    }
    await once(stream, 'readable');
  }
}
