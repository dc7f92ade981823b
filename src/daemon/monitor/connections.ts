import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Limits the open connections of a server. At the limit, each new connection closes the connection that has been idle
 * longest or, if none is idle, the one with the oldest request. Node's `maxConnections` would refuse the new connection
 * instead, so clients that never send a request or never read the response could lock everyone else out.
 */
export function limitConnections(server: Server, max: number): void {
  /** Whether each connection has a request in progress, in order of the last change. */
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
