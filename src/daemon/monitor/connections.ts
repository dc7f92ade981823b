import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Limits the number of a server's open connections. At the limit, each new connection closes the connection that has
 * been idle longest or, if none is idle, the connection with the oldest request. Node's `maxConnections` would refuse
 * the new connection instead, so clients that never send a request or never read the response could lock out everyone
 * else.
 */
export function limitConnections(server: Server, max: number): void {
  /** Whether each connection has a request in progress. Connections are in the order of their last change. */
  const open = new Map<Socket, boolean>();
  const note = (socket: Socket, isAsking: boolean): void => {
    open.delete(socket);
    if (!socket.destroyed) open.set(socket, isAsking);
  };
  server.on('connection', (socket: Socket) => {
    if (open.size >= max) worst(open)?.destroy();
    note(socket, false);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    note(socket, true);
    response.once('close', () => note(socket, false));
  });
}

function worst(open: ReadonlyMap<Socket, boolean>): Socket | undefined {
  const sockets = [...open];
  return (sockets.find(([, isAsking]) => !isAsking) ?? sockets[0])?.[0];
}
