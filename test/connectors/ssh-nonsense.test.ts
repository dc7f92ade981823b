import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import ssh2 from 'ssh2';
import { expect, it, onTestFinished } from 'vitest';
import { openTunnel } from '#sdk';
import { newSshKey } from '../servers/ssh-key.ts';
import { fingerprintOf } from './ftp-logins.ts';

/** An SSH server that accepts any tunnel and echoes what it receives. */
async function openSshServer() {
  const key = newSshKey();
  const server = new ssh2.Server({ hostKeys: [key.private] }, (connection) => {
    connection.on('error', () => undefined);
    connection.on('authentication', (login) => login.accept());
    connection.on('tcpip', (accept) => {
      const channel = accept();
      channel.pipe(channel);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, host_key: fingerprintOf(key.public) };
}

/** Forwards everything and can also send data of its own to the client. It never disconnects. */
async function openProxy(behind: number) {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(behind, '127.0.0.1');
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.pipe(upstream, { end: false });
    upstream.pipe(client, { end: false });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, say: (bytes: Buffer) => sockets[0]!.write(bytes) };
}

it('closes a tunnel whose server sends garbage and never disconnects', async () => {
  const { port: behind, host_key } = await openSshServer();
  const proxy = await openProxy(behind);
  const login = {
    ...{ host: '127.0.0.1', port: proxy.port, user: 'sluice', password: 'secret', host_key },
    ...{ known_hosts_file: '/nowhere', folder: '/nowhere', place: 'ssh://there', codes: 'DB_SSH' },
    ...{ connectTimeoutSeconds: 60, idleTimeoutSeconds: 60 },
  };
  const { signal } = new AbortController();
  const tunnel = await openTunnel({ login, to: { host: 'db', port: 1 }, name: 'db', signal });
  onTestFinished(() => tunnel.close());
  const socket = connect(tunnel.path);
  socket.write('hello');
  expect(String((await once(socket, 'data'))[0])).toBe('hello');
  proxy.say(Buffer.alloc(4096, 0xa5));
  await once(socket, 'close');
  expect(tunnel.fault()).toMatchObject({ code: 'DB_SSH_LOST', family: 'try_later' });
});
