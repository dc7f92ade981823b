import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Error codes that show that the peer no longer reads. */
const ofPeer = new Set(['ECONNRESET', 'EPIPE']);

/** A connection that was abandoned before the peer responded to the last write. */
export interface Lingering {
  /**
   * Resolves to true when the peer has closed the connection and can no longer read the request, or to false on
   * timeout.
   */
  readonly isClosed: Promise<boolean>;
  /** Ends the wait. */
  cut(): void;
}

interface LingerOptions {
  /** Maximum time to wait until the peer closes the connection. */
  readonly lingerMs: number;
  readonly onLinger: (lingering: Lingering) => void;
}

type Done = (error?: Error | null) => void;

/**
 * A socket with a lingering close: if destroyed before a response, it sends a FIN and keeps reading until the peer
 * closes too. If it closed immediately, sent data might still be in transit.
 */
export class LingeringSocket extends Duplex {
  readonly #socket: Socket;
  readonly #options: LingerOptions;
  /** Whether something was written and nothing has been received since. */
  #isUnanswered = false;
  #hasPeerEnded = false;

  constructor(socket: Socket, options: LingerOptions) {
    super({ allowHalfOpen: false, decodeStrings: false });
    this.#socket = socket;
    this.#options = options;
    socket.on('data', (piece: Buffer) => {
      if (this.destroyed) return;
      this.#isUnanswered = false;
      if (!this.push(piece)) socket.pause();
    });
    socket.on('end', () => {
      this.#hasPeerEnded = true;
      this.push(null);
    });
    socket.on('error', (error) => this.destroy(error));
    // If the peer has ended the connection, buffered data must still be read.
    socket.on('close', () => void (this.#hasPeerEnded || this.destroy()));
  }

  /** Lets the connection keep the process alive, as `net.Socket` does. */
  ref(): this {
    this.#socket.ref();
    return this;
  }

  /** Lets the process exit even if the connection is open. */
  unref(): this {
    this.#socket.unref();
    return this;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done): void {
    this.#isUnanswered = true;
    this.#socket.write(chunk, encoding, done);
  }

  override _writev(chunks: { chunk: Buffer | string; encoding: BufferEncoding }[], done: Done): void {
    this.#isUnanswered = true;
    const last = chunks.length - 1;
    this.#socket.cork();
    for (const [at, { chunk, encoding }] of chunks.entries()) {
      this.#socket.write(chunk, encoding, at === last ? done : undefined);
    }
    this.#socket.uncork();
  }

  override _final(done: Done): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: (Error & { code?: string }) | null, done: Done): void {
    done(error);
    const socket = this.#socket;
    if (!this.#isUnanswered || this.#hasPeerEnded) socket.destroy();
    else if (!socket.destroyed) this.#options.onLinger(this.#linger());
    else if (!ofPeer.has(error?.code ?? ''))
      this.#options.onLinger({ isClosed: Promise.resolve(false), cut: () => undefined });
  }

  #linger(): Lingering {
    const socket = this.#socket;
    const { promise: isClosed, resolve } = Promise.withResolvers<boolean>();
    const end = (by: 'peer' | 'us'): void => {
      clearTimeout(timer);
      resolve(by === 'peer');
      socket.destroy();
    };
    const cut = () => end('us');
    const timer = setTimeout(cut, this.#options.lingerMs);
    timer.unref();
    // Any received data shows that the request has arrived.
    for (const event of ['data', 'end', 'close']) socket.once(event, () => end('peer'));
    socket.once('error', ({ code = '' }: NodeJS.ErrnoException) => end(ofPeer.has(code) ? 'peer' : 'us'));
    socket.unref();
    socket.resume();
    socket.end();
    return { isClosed, cut };
  }
}
