import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Scope } from '../journey/process.ts';

/** A proxy on real sockets in front of a server. It pauses the server's data after this many bytes. */
export interface Gate {
  readonly port: number;
  /** Resolves when a connection is paused, so that its reader is in the middle of something. */
  readonly held: Promise<void>;
  /** From now on, everything passes. */
  release(): void;
  /** Ends the paused connection on the reader's side: resets it, or closes it as if complete. */
  cut(how: 'reset' | 'end'): void;
  /** New connections go to another server. */
  aim(port: number): void;
}

/** Opens a gate that pauses the first connection to which the server sends more than `bytes`. */
export async function openGate(behind: number, bytes: number, scope: Scope): Promise<Gate> {
  const sockets = new Set<Socket>();
  const isHeld = Promise.withResolvers<void>();
  let target = behind;
  let open = false;
  let held: { readonly client: Socket; readonly goOn: () => void } | undefined;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    let passed = 0;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.on('close', () => upstream.destroy()).pipe(upstream);
    upstream.on('close', () => client.destroy()).on('end', () => client.end());
    upstream.on('data', (chunk: Buffer) => {
      const room = open || held !== undefined ? chunk.length : Math.max(0, bytes - passed);
      passed += chunk.length;
      if (room >= chunk.length) return forward(chunk);
      forward(chunk.subarray(0, room));
      upstream.pause();
      held = {
        client,
        goOn: () => {
          forward(chunk.subarray(room));
          upstream.resume();
        },
      };
      isHeld.resolve();
    });
    const forward = (chunk: Buffer): void => {
      if (client.write(chunk)) return;
      upstream.pause();
      client.once('drain', () => upstream.resume());
    };
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  });
  return {
    port: (server.address() as AddressInfo).port,
    held: isHeld.promise,
    release: () => {
      open = true;
      held?.goOn();
    },
    cut: (how) => {
      open = true;
      if (how === 'reset') held?.client.resetAndDestroy();
      else held?.client.end();
    },
    aim: (port) => {
      target = port;
    },
  };
}
