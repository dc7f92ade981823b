import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real HTTP server on a free port that records its requests. */
export class TestServer {
  readonly requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  answer: (url: URL, response: ServerResponse, number: number) => void = (_, response) => response.end();
  readonly #server: Server;

  constructor() {
    const listener: RequestListener = (request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        this.requests.push({ method, url, headers, body });
        this.answer(new URL(url, this.url), response, this.requests.length);
      });
    };
    this.#server = createServer(listener);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Starts listening, again if stopped, and forgets all requests. */
  async start(): Promise<this> {
    this.requests.length = 0;
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Responds with JSON. */
export function sendJson(response: ServerResponse, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
}
