import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A peer that accepts connections and then does what the test says, which may be nothing at all. */
export interface Peer {
  readonly port: number;
  /** Currently open connections. */
  open(): number;
}

/** Starts the peer on a free port of loopback, until the test ends. */
export async function openPeer(converse: (socket: Socket) => void = (socket) => void socket.resume()): Promise<Peer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    converse(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, open: () => sockets.size };
}

/** Repeats a chunk endlessly, so that a client that waits for silence never continues. */
export function drip(socket: Socket, piece: string, everyMs = 50): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.on('close', () => clearInterval(timer));
}
