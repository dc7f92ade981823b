import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type Lingering, LingeringSocket } from './lingering-socket.ts';
import { readBeforeBreaking } from './read-before-breaking.ts';
import { excerptAt } from './redact.ts';

/** A request. A function creates the body, so that a retry starts at the first byte. */
export interface HttpRequestOptions {
  readonly agent: HttpAgent;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | Readable;
  /**
   * Timeout from the last byte sent to the start of the response. The same time applies again to the rest of the
   * response.
   */
  readonly timeoutMs: number;
  /** Maximum number of bytes to read from the response body. */
  readonly answerLimitBytes: number;
  readonly signal?: AbortSignal;
  /** Called when a connection is open, right before the first byte is sent. If it throws, nothing is sent. */
  readonly beforeSent?: (() => void) | undefined;
}

/** A response whose body hasn't been read yet. */
export interface OpenAnswer extends Pick<HttpAnswer, 'status' | 'headers'> {
  /** Fails if the connection breaks, or if the next bytes take longer than the request's timeout. */
  readonly body: Readable;
}

export interface HttpAnswer {
  readonly status: number;
  /** Headers by lowercase name; if a header is repeated, its first value. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** False if the response was truncated, timed out, or exceeded the limit; `text` is then only its beginning. */
  readonly complete: boolean;
}

/** Loads the HTTP package, which takes as long as a small upload. Call this while something else is awaited. */
export function loadHttp(): Promise<typeof import('./undici-parts.ts')> {
  loaded ??= import('./undici-parts.ts');
  return loaded;
}

/** Cached, because every `import()` looks up the package on disk. */
let loaded: Promise<typeof import('./undici-parts.ts')> | undefined;

/** After a stop, peers have this long to close abandoned connections. */
const closeGraceMs = 500;

interface AgentOptions {
  readonly connectTimeoutMs: number;
  /** Time to wait for the peer to close an abandoned request's connection. If absent, there's no wait. */
  readonly lingerMs?: number;
}

/** A pool of keep-alive connections. Uses HTTP/1.1, which makes bulk uploads faster and can't reorder responses. */
export class HttpAgent {
  readonly #options: AgentOptions;
  readonly #lingering = new Set<Lingering>();
  #opened: Promise<Dispatcher> | undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  /** Resolves when a request can be sent without waiting for the package to load. */
  dispatcher(): Promise<Dispatcher> {
    this.#opened ??= openDispatcher(this.#options.connectTimeoutMs, (socket) => this.#wrap(socket));
    return this.#opened;
  }

  /**
   * Call this right after a failed request. Returns undefined if the request can no longer arrive. Otherwise, its
   * connection and possibly others are being closed; the promise resolves to true when the peer has closed all of them,
   * or to false on timeout.
   */
  closing(): Promise<boolean> | undefined {
    if (this.#lingering.size === 0) return undefined;
    return Promise.all([...this.#lingering].map(({ isClosed }) => isClosed)).then((all) => all.every(Boolean));
  }

  /** Closes all connections, after briefly waiting for peers to close abandoned ones. */
  async destroy(): Promise<void> {
    await (await this.#opened)?.destroy();
    const grace = setTimeout(() => {
      for (const { cut } of this.#lingering) cut();
    }, closeGraceMs);
    await this.closing();
    clearTimeout(grace);
  }

  #wrap(socket: Socket): Duplex {
    const { lingerMs } = this.#options;
    if (lingerMs === undefined) return socket;
    const onLinger = (lingering: Lingering): void => {
      this.#lingering.add(lingering);
      // Deferred, because the sender of the request will call {@link closing} next.
      void lingering.isClosed.then(() => setImmediate(() => this.#lingering.delete(lingering)));
    };
    return new LingeringSocket(socket, { lingerMs, onLinger });
  }
}

async function openDispatcher(timeout: number, wrap: (socket: Socket) => Duplex): Promise<Dispatcher> {
  const { Agent, buildConnector } = await loadHttp();
  const connect = buildConnector({ timeout, allowH2: false });
  return new Agent({
    allowH2: false,
    pipelining: 1,
    connect: (to, done) => {
      connect(to, (...[error, socket]) => {
        if (error) done(error, null);
        // The type requires a socket, but any duplex stream works.
        else done(null, wrap(readBeforeBreaking(socket)) as Socket);
      });
    },
  });
}

/** Maximum number of informational responses (1xx; RFC 9110, 15.2) before the final one. */
const maxAnnouncements = 10;

/** Sends one request and reads its response. Throws the network error if no response has started. */
export async function sendRequest(given: HttpRequestOptions): Promise<HttpAnswer> {
  const late = new AbortController();
  const { body, ...answer } = await openRequest(given, late);
  const timer = setTimeout(() => giveUp(late), given.timeoutMs);
  try {
    return { ...answer, ...(await readBounded(body, given.answerLimitBytes)) };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends one request and waits until its response starts. Throws the network error if none does. Read the body or
 * destroy it. `late` cancels the response.
 */
export async function openRequest(
  given: Omit<HttpRequestOptions, 'answerLimitBytes'>,
  late = new AbortController(),
): Promise<OpenAnswer> {
  let announcements = 0;
  const { request } = await loadHttp();
  const { origin, pathname, search } = new URL(given.url);
  const dispatcher = calling(given.beforeSent, await given.agent.dispatcher());
  const { statusCode, headers, body } = await request.call(dispatcher, {
    origin,
    path: pathname + search,
    method: given.method,
    headers: { ...given.headers },
    body: given.body ?? null,
    headersTimeout: given.timeoutMs,
    bodyTimeout: given.timeoutMs,
    // Each informational response restarts the timeout.
    onInfo: () => void (++announcements > maxAnnouncements && giveUp(late)),
    signal: given.signal === undefined ? late.signal : AbortSignal.any([late.signal, given.signal]),
  });
  return { status: statusCode, headers: flatten(headers), body };
}

/** Like {@link sendRequest}, but over a connection of its own, which is closed after the response. */
export async function sendOnce(given: Omit<HttpRequestOptions, 'agent'>): Promise<HttpAnswer> {
  const agent = new HttpAgent({ connectTimeoutMs: given.timeoutMs });
  try {
    return await sendRequest({ ...given, agent });
  } finally {
    await agent.destroy();
  }
}

/** A dispatcher that calls `beforeSent` right before a request is sent, and fails the request if that throws. */
function calling(beforeSent: HttpRequestOptions['beforeSent'], dispatcher: Dispatcher): Dispatcher {
  if (beforeSent === undefined) return dispatcher;
  const dispatch: Dispatcher['dispatch'] = (options, handler) => {
    const start = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (...given) => {
      beforeSent();
      start?.(...given);
    };
    return dispatcher.dispatch(options, handler);
  };
  // A request uses nothing else of its dispatcher.
  return { dispatch } as Dispatcher;
}

const giveUp = (late: AbortController): void => late.abort(new Error('the response timed out'));

/** Reads a body to its end, to its failure, or to the limit. */
export async function readBounded(
  body: AsyncIterable<Buffer>,
  limit: number,
): Promise<{ text: string; complete: boolean }> {
  const pieces: Buffer[] = [];
  let left = limit;
  let complete = true;
  try {
    for await (const piece of body) {
      pieces.push(piece.subarray(0, left));
      left -= piece.length;
      if (left >= 0) continue;
      complete = false;
      break;
    }
  } catch {
    complete = false;
  }
  const text = Buffer.concat(pieces).toString('utf8');
  // Responses are shown to users, and a truncated secret could not be redacted afterwards.
  return { text: complete ? text : excerptAt(text, 0, text.length), complete };
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) flat[name.toLowerCase()] = first;
  }
  return flat;
}
