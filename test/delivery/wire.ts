import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A connection to a server that can be paused. Data sent while it's paused arrives when it's resumed, even if the
 * client has closed the connection.
 */
export interface Wire {
  /** The server's URL, through the wire. */
  readonly url: string;
  /** From now on, nothing reaches the server. */
  hold(): void;
  /** Delivers everything in transit at once, and then whatever follows. */
  open(): void;
  /** Resolves when this many connections have data in transit, which the server hasn't received. */
  loaded(connections: number): Promise<void>;
  close(): Promise<void>;
}

const wires: Wire[] = [];

/** Opens a wire to the server at `url`. */
export async function openWire(url: string): Promise<Wire> {
  const { hostname, port, pathname } = new URL(url);
  const sockets = new Set<Socket>();
  /** The data in transit, by connection. */
  const held = new Map<Socket, (() => void)[]>();
  let waiting: { readonly connections: number; resolve(): void }[] = [];
  let isHeld = false;
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket));
  };
  const pass = (from: Socket, step: () => void): void => {
    if (!isHeld) {
      step();
      return;
    }
    held.set(from, [...(held.get(from) ?? []), step]);
    for (const one of waiting) if (held.size >= one.connections) one.resolve();
    waiting = waiting.filter(({ connections }) => held.size < connections);
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    track(client);
    const upstream = track(connect({ host: hostname, port: Number(port), allowHalfOpen: true }));
    client.on('data', (piece) => pass(client, () => void upstream.write(piece)));
    client.on('end', () => pass(client, () => void upstream.end()));
    client.on('error', () => pass(client, () => void upstream.end()));
    upstream.on('data', (piece) => void client.write(piece));
    upstream.on('end', () => void client.end());
    upstream.on('error', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const wire: Wire = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    hold: () => {
      isHeld = true;
    },
    open: () => {
      isHeld = false;
      for (const steps of held.values()) for (const step of steps) step();
      held.clear();
    },
    loaded: (connections) =>
      new Promise((resolve) => {
        if (held.size >= connections) resolve();
        else waiting.push({ connections, resolve });
      }),
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
  wires.push(wire);
  return wire;
}

/** For afterEach. */
export async function closeWires(): Promise<void> {
  await Promise.all(wires.splice(0).map((wire) => wire.close()));
}
