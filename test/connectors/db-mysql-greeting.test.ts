import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { check, problemOf } from './db-reader.ts';

/** A server that sends these chunks on connect, and nothing more. */
async function serverThatSays(...pieces: readonly Buffer[]): Promise<string> {
  const server = createServer(async (socket) => {
    socket.on('error', () => undefined);
    for (const piece of pieces) {
      await new Promise<void>((written) => socket.write(piece, () => written()));
      await new Promise(setImmediate);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `mysql://a:b@127.0.0.1:${(server.address() as AddressInfo).port}/c`;
}

it.each<[string, readonly Buffer[], string]>([
  ['SSH', [Buffer.from('SSH-2.0-OpenSSH_9.2\r\n')], 'SSH-2.0-OpenSSH_9.2'],
  [
    'SMTP, in two pieces',
    [Buffer.from('22'), Buffer.from('0 mail.example.com ESMTP\r\n')],
    '220 mail.example.com ESMTP',
  ],
  ['zeros', [Buffer.alloc(40)], `0x${'00'.repeat(16)}`],
])('recognizes a server that speaks %s by its first bytes, without waiting for more', async (_, pieces, seen) => {
  const url = await serverThatSays(...pieces);
  expect(await problemOf(check({ url, connect_timeout_seconds: 600 }))).toMatchObject({
    code: 'DB_PROTOCOL',
    family: 'try_later',
    message: 'the server sent no MySQL or MariaDB greeting',
    seen,
  });
});

it("reports the server's message if it sends an error instead of the greeting", async () => {
  const text = Buffer.from("\xff\x6a\x04Host '10.0.0.9' is not allowed to connect to this server", 'latin1');
  const head = Buffer.from([text.length, 0, 0, 0]);
  const url = await serverThatSays(Buffer.concat([head, text]));
  const problem = await problemOf(check({ url, connect_timeout_seconds: 600 }));
  expect(problem).toMatchObject({ code: 'DB_HOST_REFUSED', family: 'config' });
});
