import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { TLSSocket, connect as tlsConnect } from 'node:tls';
import type { Client, FTPContext, FTPResponse } from 'basic-ftp';
import type { ActiveOptions } from './options.ts';
import { make } from './problems.ts';

/**
 * Active mode: the server opens the data connections (RFC 959, 3.2; EPRT of RFC 2428 for IPv6). The client library
 * supports only passive mode, but it calls a replaceable function for each data connection. The function in this file
 * listens on a port, sends the port's address to the server, and returns a stream that starts when the server connects.
 */
export function useActiveMode(client: Client, options: ActiveOptions): void {
  client.prepareTransfer = (ftp) => announce(ftp, options);
}

async function announce(ftp: FTPContext, options: ActiveOptions): Promise<FTPResponse> {
  const { localAddress = '', remoteAddress = '' } = ftp.socket;
  const server = await listen(localAddress, options);
  try {
    const { port } = server.address() as AddressInfo;
    const awaited = new AwaitedSocket(server, plain(remoteAddress));
    ftp.dataSocket = secured(ftp, awaited) as Socket;
    return await ftp.request(command(options.address ?? plain(localAddress), port));
  } catch (error) {
    server.close();
    throw error;
  }
}

function plain(address: string): string {
  return address.replace(/^::ffff:/i, '');
}

function command(address: string, port: number): string {
  if (address.includes(':')) return `EPRT |2|${address}|${port}|`;
  return `PORT ${[...address.split('.'), port >> 8, port & 255].join(',')}`;
}

async function listen(address: string, { first_port: first = 0, last_port: last = first }: ActiveOptions) {
  for (let port = first; port <= last; port++) {
    const server = createServer();
    try {
      server.listen(port, address);
      await once(server, 'listening');
      return server;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
  throw make('FTP_NO_PORT', 'try_later', {
    message: 'no free port for the data connection',
    seen: `${first} to ${last}`,
    next: 'widen the range from first_port to last_port in `active`',
  });
}

/** Starts TLS on the stream and resumes the control connection's TLS session, as in passive mode. */
function secured(ftp: FTPContext, awaited: Duplex): Duplex {
  if (!(ftp.socket instanceof TLSSocket)) return awaited;
  const session = ftp.tlsSessionStore ?? ftp.socket.getSession();
  const socket = tlsConnect({ ...ftp.tlsOptions, socket: awaited, ...(session === undefined ? {} : { session }) });
  socket.on('session', (fresh) => {
    ftp.tlsSessionStore = fresh;
  });
  return socket;
}

/**
 * A data connection that the server hasn't opened yet. Accepts one connection, and only from the server's own address.
 */
class AwaitedSocket extends Duplex {
  /** The client library reads this property to detect a stalled transfer. */
  bytesRead = 0;
  bytesWritten = 0;
  readonly #server: Server;
  readonly #arrived = Promise.withResolvers<Socket>();
  #socket: Socket | undefined;

  constructor(server: Server, peer: string) {
    super();
    this.#server = server;
    this.#arrived.promise.catch(() => undefined);
    server.on('connection', (socket) =>
      plain(socket.remoteAddress ?? '') === peer ? this.#take(socket) : socket.destroy(),
    );
    server.on('error', (error) => this.destroy(error));
  }

  /** The client library disables the socket's timeout and uses its own timeout. */
  setTimeout(): this {
    return this;
  }

  #take(socket: Socket): void {
    this.#server.close();
    if (this.destroyed) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.bytesRead += chunk.length;
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    // After the connection has ended cleanly, the buffered data must still be read.
    socket.on('close', () => socket.readableEnded || this.destroy(new Error('the data connection was closed')));
    this.#arrived.resolve(socket);
  }

  override _read(): void {
    this.#socket?.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.bytesWritten += chunk.length;
    this.#arrived.promise.then((socket) => socket.write(chunk, done), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#arrived.promise.then((socket) => socket.end(() => done()), done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#arrived.reject(error ?? new Error('the data connection was closed'));
    this.#server.close();
    this.#socket?.destroy();
    done(error);
  }
}
