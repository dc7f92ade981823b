import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Problem } from '../lib/problem.ts';

const localNames = ['127.0.0.1', 'localhost', '[::1]'];

/** Whether the redirect goes to this machine, so that a listener can receive it. */
export function isLocal(redirectUri: string): boolean {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === 'http:' && localNames.includes(hostname);
}

/** Handles a redirect. Returns `done` if it was the expected response; after that, no other response is accepted. */
export type OnAnswer = (address: URL) => Promise<'done' | 'not ours'>;

/**
 * Listens on this machine for one browser redirect, at exactly the path of `redirectUri` (port 0: any free one). Not
 * reachable from other machines.
 */
export class Listener {
  /** The redirect URI with the actual port. */
  readonly redirectUri: string;
  readonly #server: Server;
  /** Connections that haven't sent a request: browsers open some in advance and keep them open. */
  readonly #unused = new Set<Socket>();
  #onAnswer: OnAnswer | undefined;

  private constructor(server: Server, redirectUri: string) {
    this.#server = server;
    this.redirectUri = redirectUri;
    server.on('connection', (socket) => {
      this.#unused.add(socket);
      socket.on('close', () => this.#unused.delete(socket));
    });
    server.on('request', (request, response) => {
      this.#unused.delete(request.socket);
      void this.#serve(request, response);
    });
  }

  static async open(redirectUri: string): Promise<Listener> {
    const url = new URL(redirectUri);
    const server = createServer();
    const host = url.hostname === '[::1]' ? '::1' : '127.0.0.1';
    const wanted = url.port === '0' || /:0(\/|$)/.test(redirectUri) ? 0 : Number(url.port || 80);
    await listen(server, { host, port: wanted });
    url.port = String((server.address() as AddressInfo).port);
    return new Listener(server, url.href);
  }

  /**
   * Resolves with `redeem`'s result for the first redirect that it accepts, or rejects with its error. Then the
   * listener is closed.
   */
  wait<T>(redeem: (address: URL) => Promise<T> | undefined, signal: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#onAnswer = async (address) => {
      const redeemed = redeem(address);
      if (redeemed === undefined) return 'not ours';
      this.#onAnswer = undefined;
      redeemed.then(resolve, reject);
      await redeemed;
      return 'done';
    };
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    return promise.finally(() => {
      signal.removeEventListener('abort', stop);
      this.close();
    });
  }

  /** Closes the listener and the browser's unused connections, which Node doesn't consider idle. */
  close(): void {
    this.#server.close();
    this.#server.closeIdleConnections();
    for (const socket of this.#unused) socket.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = URL.parse(request.url ?? '', this.redirectUri);
    const isHere = address !== null && address.pathname === new URL(this.redirectUri).pathname;
    if (request.method !== 'GET' || !isHere) return answer(response, 404, 'Page not found.');
    if (this.#onAnswer === undefined) return answer(response, 410, 'This login has ended.');
    try {
      const outcome = await this.#onAnswer(address);
      if (outcome === 'done') answer(response, 200, 'Logged in. You may close this window.');
      else answer(response, 400, 'This page does not belong to the current login. Use the newest URL.');
    } catch {
      answer(response, 400, 'The login failed. See the terminal for the reason.');
    }
  }
}

/**
 * Sends the page that the browser shows. The page's URL contains the code, so the page must not be cached, and its URL
 * must not be sent as a referrer. The page contains nothing from the request.
 */
function answer(response: ServerResponse, status: number, text: string): void {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'",
    connection: 'close',
  };
  const page = `<!doctype html><meta charset="utf-8"><title>Sluice</title><p>${text}</p>\n`;
  response.writeHead(status, headers).end(page);
}

async function listen(server: Server, at: { host: string; port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(at, resolve);
  try {
    await promise;
  } catch (cause) {
    throw new Problem({
      code: 'LOGIN_PORT',
      family: 'config',
      message: `Cannot listen on the port of the redirect_uri: ${(cause as Error).message}`,
      seen: `${at.host}:${at.port}`,
      next: 'stop the program that uses the port, choose another redirect_uri (and register it with the vendor), or add --paste',
      cause,
    });
  }
}
