import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The requests that the double received. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** The JSON of the body, or its text. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what its service sends
  readonly body: any;
  /** Parts of the path that matched `{name}` in the route. */
  readonly part: Readonly<Record<string, string>>;
  /** URL of the double, for links in responses. */
  readonly base: string;
}

/** A response: JSON unless it's a string. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string | Buffer;
}

/** Maps `METHOD /path/{name}` to a response. A plain value is sent as JSON with status 200. */
export type Routes = Readonly<Record<string, Reply | ((asked: Asked) => Reply)>>;

/** One special response, for the `at`-th request (counted from 1) to `to`, or to any route if `to` is undefined. */
export interface Fault {
  readonly at: number;
  /** The number of consecutive requests that get the response; 1 by default. */
  readonly times?: number;
  readonly to?: string;
  readonly reply: Reply | 'cut' | 'repeat';
}

interface VendorInit {
  readonly routes: Routes;
  readonly faults?: readonly Fault[];
  /** Returns the response to a request whose credentials are invalid; undefined if they're valid. */
  readonly guard?: (asked: Asked) => Reply | undefined;
  /** If true, records no requests and responses; for tests that measure memory. */
  readonly forgetful?: boolean;
}

/** Simulates a vendor: a real HTTP server on a free port with responses that are data. */
export class Vendor {
  readonly asked: Asked[] = [];
  readonly #init: VendorInit;
  readonly #server: Server;
  readonly #counts = new Map<Fault, number>();
  #last: Reply = { status: 500 };

  constructor(init: VendorInit) {
    this.#init = init;
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => this.#answer(request, response, Buffer.concat(parts).toString('utf8')));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Each request's `METHOD /path?query`, followed by its body as JSON. */
  get lines(): string[] {
    return this.asked.map(({ method, path, query, body }) => {
      const search = query.size === 0 ? '' : `?${decodeURIComponent(query.toString().replaceAll('+', ' '))}`;
      const text = body === undefined ? '' : ` ${typeof body === 'string' ? body : JSON.stringify(body)}`;
      return `${method} ${path}${search}${text}`;
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse, text: string): void {
    const asked = this.#asked(request, text);
    if (this.#init.forgetful !== true) this.asked.push(asked);
    const fault = (this.#init.faults ?? []).find((one) => this.#isDue(one, asked));
    if (fault?.reply === 'cut') {
      cut(response);
      return;
    }
    const usual = () => this.#init.guard?.(asked) ?? this.#routed(asked);
    const reply = fault === undefined ? usual() : fault.reply === 'repeat' ? this.#last : (fault.reply as Reply);
    if (fault === undefined && this.#init.forgetful !== true) this.#last = reply;
    send(response, reply);
  }

  #isDue(fault: Fault, asked: Asked): boolean {
    if (fault.to !== undefined && partsOf(fault.to, asked) === undefined) return false;
    const count = (this.#counts.get(fault) ?? 0) + 1;
    this.#counts.set(fault, count);
    return count >= fault.at && count < fault.at + (fault.times ?? 1);
  }

  #asked(request: IncomingMessage, text: string): Asked {
    const url = new URL(request.url ?? '/', this.url);
    const { method = '', headers } = request;
    return {
      method,
      path: url.pathname,
      query: url.searchParams,
      headers,
      body: bodyOf(text),
      part: {},
      base: this.url,
    };
  }

  #routed(asked: Asked): Reply {
    for (const [route, answer] of Object.entries(this.#init.routes)) {
      const part = partsOf(route, asked);
      if (part === undefined) continue;
      return typeof answer === 'function' ? answer({ ...asked, part }) : answer;
    }
    return { status: 404, text: `the double has no ${asked.method} ${asked.path}` };
  }
}

function partsOf(route: string, { method, path }: Asked): Record<string, string> | undefined {
  const [wanted, pattern = ''] = route.split(' ');
  if (wanted !== method) return undefined;
  const shape = pattern.replaceAll(/[.*+?^$()[\]|\\]/g, '\\$&').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  const found = new RegExp(`^${shape}$`).exec(path);
  return found === null ? undefined : { ...found.groups };
}

function bodyOf(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function send(response: ServerResponse, { status = 200, headers = {}, json, text }: Reply): void {
  const isText = text !== undefined;
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  response.end(isText ? text : json === undefined ? undefined : JSON.stringify(json));
}

function cut(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"', () => response.socket?.destroy());
}
