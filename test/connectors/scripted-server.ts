import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Clients write one request in several pieces. */
const quietMs = 5;

/** A server that sends one of these responses to each request of a connection, and then nothing. */
export async function startScripted(answers: readonly Buffer[]): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let next = 0;
    sockets.add(socket);
    socket.on('error', () => undefined);
    const answer = () => {
      const bytes = answers[next++];
      if (bytes !== undefined && !socket.destroyed) socket.write(bytes);
    };
    let timer: NodeJS.Timeout | undefined;
    socket.on('data', () => {
      clearTimeout(timer);
      timer = setTimeout(answer, quietMs);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
