import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Dialog } from './mutate.ts';

/** A client sends one request in several pieces, this close to each other. */
const usualQuietMs = 2;
/** If a client sends nothing for this long, it gets the next chunk anyway. */
const idleMs = 25;

export interface Replay {
  readonly port: number;
  /** Resolves when nothing is left to send and a client is waiting for more. */
  readonly silent: Promise<void>;
  /** Currently open connections. */
  open(): number;
  close(): void;
}

export interface ReplayOptions {
  readonly dialog: Dialog;
  /** Sent on the data connections that the FTP dialog names; each is closed afterwards. */
  readonly data?: Dialog;
  /** The server sends first. */
  readonly greets?: boolean;
  /** A waiting client gets the next chunk even if it hasn't sent anything. */
  readonly isPushing: boolean;
  /** At the end, the server stays silent instead of closing the connection. */
  readonly isSilent: boolean;
  /** How long a client sends nothing at the end of its request. On a busy machine, its pieces are less close. */
  readonly quietMs?: number;
}

/** Sends the chunks of a dialog, one per turn of the client, over as many connections as the client opens. */
export async function replay({
  dialog,
  data = [],
  greets = false,
  isPushing,
  isSilent,
  quietMs = usualQuietMs,
}: ReplayOptions): Promise<Replay> {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  const listen = async (each: (socket: Socket) => void): Promise<number> => {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      each(socket);
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const { promise: silent, resolve: fallSilent } = Promise.withResolvers<void>();
  let [said, dataSaid] = [0, 0];
  const dataPort = data.length === 0 ? 0 : await listen((socket) => void socket.end(data[dataSaid++ % data.length]!));
  const port = await listen((socket) => {
    let timer: NodeJS.Timeout | undefined;
    const later = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(say, ms);
    };
    const say = () => {
      if (socket.destroyed) return;
      const piece = dialog[said++];
      if (piece === undefined) {
        fallSilent();
        return isSilent ? undefined : void socket.end();
      }
      socket.write(atPort(piece, dataPort));
      if (isPushing || (said >= dialog.length && !isSilent)) later(idleMs);
    };
    if (greets) later(0);
    socket.on('data', () => later(quietMs));
    socket.on('close', () => clearTimeout(timer));
  });
  const close = () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  };
  return { port, silent, open: () => sockets.size, close };
}

/** The response to EPSV names a port, which is different each time. */
function atPort(piece: Buffer, port: number): Buffer {
  const text = piece.toString('latin1');
  return port === 0 ? piece : Buffer.from(text.replace(/\|\|\|\d+\|/, `|||${port}|`), 'latin1');
}
