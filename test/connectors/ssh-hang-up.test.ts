import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openSsh } from '#sdk';
import { protocols } from '../fuzz/protocols.ts';
import { problemOf } from './db-reader.ts';

it('fails a login whose SSH server disconnects cleanly during the key exchange', async () => {
  const [banner, keys] = protocols.ssh!.dialog();
  const server = createServer((socket) => {
    socket.on('error', () => undefined).write(banner!);
    socket.once('data', () => socket.write(keys!, () => setTimeout(() => socket.end(), 100)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const login = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    user: 'sluice',
    password: 'secret',
    host_key: `SHA256:${'A'.repeat(43)}`,
    known_hosts_file: '/nowhere',
    folder: '/nowhere',
    connectTimeoutSeconds: 5,
    idleTimeoutSeconds: 5,
    place: 'ssh://there',
    codes: 'DB_SSH' as const,
  };
  const signal = new AbortController().signal;
  expect((await problemOf(openSsh(login, signal))).code).toMatch(/^DB_SSH_/);
});
