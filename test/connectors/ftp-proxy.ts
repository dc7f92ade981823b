import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const here = '127.0.0.1';

/**
 * What happens to a connection after this many bytes were sent to the client: it's reset, closed as if complete, or
 * goes silent.
 */
export interface Cut {
  readonly afterBytes: number;
  readonly how: 'reset' | 'end' | 'silence';
  /** Called when it has happened. */
  readonly done?: () => void;
}

export interface TcpProxy {
  readonly port: number;
  readonly host: string;
  /** Number of connections that carried data. */
  readonly carried: () => number;
  close(): Promise<void>;
}

/**
 * A proxy on real sockets in front of an SSH server. It breaks the first connections as configured and passes all
 * others.
 */
export async function openTcpProxy(port: number, cuts: Cut[]): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let carried = 0;
  const server = createServer((client) => {
    carried += 1;
    carry({ client, upstream: connect(port, '127.0.0.1'), cut: cuts.shift(), sockets });
  });
  return {
    port: await listening(server),
    host: here,
    carried: () => carried,
    close: () => closeAll([server], sockets),
  };
}

/**
 * A proxy in front of an FTP server without TLS. It reads the responses to EPSV to also intercept data connections;
 * those that carry files (for RETR) are broken as configured.
 */
export async function openFtpProxy(port: number, cuts: Cut[]): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  let carried = 0;
  let isFile = false;
  const control = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) track(socket, sockets);
    client.on('data', (chunk: Buffer) => {
      isFile = /^(?:RETR|REST)/m.test(chunk.toString('latin1'));
      upstream.write(chunk);
    });
    upstream.on('data', async (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      const told = /^229 .*\(\|\|\|(\d+)\|\)/m.exec(text)?.[1];
      if (told === undefined) return void client.write(chunk);
      const data = createServer((socket) => {
        const onward = connect(Number(told), '127.0.0.1');
        carry({ client: socket, upstream: onward, sockets, cut: () => (isFile ? cuts.shift() : undefined) });
        carried += 1;
        data.close();
      });
      servers.push(data);
      client.write(Buffer.from(text.replace(`|||${told}|`, `|||${await listening(data)}|`), 'latin1'));
    });
    end(client, upstream);
  });
  servers.push(control);
  return {
    port: await listening(control),
    host: here,
    carried: () => carried,
    close: () => closeAll(servers, sockets),
  };
}

/** Another address of this machine. Connections to it go through the proxy; connections to 127.0.0.1 don't. */
const aside = '127.0.0.2';

/** The first and last port that a server uses for data connections. */
export type PortRange = readonly [first: number, last: number];

/**
 * Pure-FTPd allows half as many concurrent users as it has data ports, and a broken login counts until the server
 * notices it.
 */
const rangeSize = 16;

/** Unused consecutive ports outside the ephemeral range, so that no other process gets them in the meantime. */
export async function freeRange(): Promise<PortRange> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 12_000);
    const range: PortRange = [first, first + rangeSize - 1];
    const probes = portsOf(range).flatMap((port) => [here, aside].map((host) => ({ port, host })));
    const servers = probes.map(() => createServer());
    const listens = await Promise.allSettled(servers.map((one, i) => listening(one, probes[i]!.port, probes[i]!.host)));
    for (const server of servers) server.close();
    if (listens.every(({ status }) => status === 'fulfilled')) return range;
  }
}

const portsOf = ([first, last]: PortRange): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);

/**
 * A proxy in front of an FTP server with TLS, whose responses it can't read or change. It therefore listens at another
 * address, on the same ports that the server uses for data. Data connections are broken as configured.
 */
export async function openTlsProxy(
  port: number,
  { cuts, dataPorts }: { cuts: Cut[]; dataPorts: PortRange },
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let carried = 0;
  const onward = (to: number, cut?: () => Cut | undefined) =>
    createServer((client) => {
      if (cut !== undefined) carried += 1;
      carry({ client, upstream: connect(to, here), sockets, cut: cut?.() });
    });
  const control = onward(port);
  const ports = portsOf(dataPorts);
  const data = ports.map((to) => onward(to, () => cuts.shift()));
  const servers = [control, ...data];
  await Promise.all(data.map((server, i) => listening(server, ports[i]!, aside)));
  const close = () => closeAll(servers, sockets);
  return { port: await listening(control, 0, aside), host: aside, carried: () => carried, close };
}

interface Carrying {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly sockets: Set<Socket>;
  readonly cut: Cut | undefined | (() => Cut | undefined);
}

/**
 * After each chunk is sent to the client, which reads in this process, wait one turn of the event loop. When the
 * connection is cut, the client has therefore read all chunks except the last. A reset drops whatever a busy machine
 * has not sent.
 */
function carry({ client, upstream, sockets, cut }: Carrying): void {
  for (const socket of [client, upstream]) track(socket, sockets);
  client.pipe(upstream);
  let told: Cut | undefined;
  let passed = 0;
  upstream.on('data', (chunk: Buffer) => {
    if (passed === 0) told = typeof cut === 'function' ? cut() : cut;
    const room = (told?.afterBytes ?? Number.POSITIVE_INFINITY) - passed;
    passed += chunk.length;
    upstream.pause();
    if (chunk.length < room) return void client.write(chunk, () => setImmediate(() => upstream.resume()));
    client.write(chunk.subarray(0, room), () => {
      if (told?.how === 'reset') client.resetAndDestroy();
      if (told?.how === 'end') client.end();
      told?.done?.();
    });
  });
  upstream.on('end', () => client.end());
  end(client, upstream);
}

/** Closes the other side if one side closes. */
function end(client: Socket, upstream: Socket): void {
  client.on('close', () => upstream.destroy());
  upstream.on('close', () => client.end());
}

function track(socket: Socket, sockets: Set<Socket>): void {
  sockets.add(socket);
  socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
}

async function listening(server: Server, port = 0, host = here): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function closeAll(servers: readonly Server[], sockets: Set<Socket>): Promise<void> {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
}
