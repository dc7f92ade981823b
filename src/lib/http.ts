import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type Lingering, LingeringSocket } from './lingering-socket.ts';
import { readBeforeBreaking } from './patient-socket.ts';
import { excerptAt } from './redact.ts';

/** One request. The body is created again for each attempt, so that a retry starts at the first byte. */
export interface HttpRequestOptions {
  readonly agent: HttpAgent;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | Readable;
  /** Longest wait for the answer to begin after the last byte got out, and for all of it afterwards. */
  readonly timeoutMs: number;
  /** No more of the answer's body is read than this. */
  readonly answerLimitBytes: number;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names; the first value where one came several times. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** False when the answer broke off, took too long or was larger than the limit: `text` is its beginning. */
  readonly complete: boolean;
}

/** Loads the package behind all requests, which takes as long as a small upload: best called while something is awaited. */
export function loadHttp(): Promise<typeof import('undici')> {
  loaded ??= import('undici');
  return loaded;
}

/** Asked for again and again, and each `import()` looks for the package on the disk. */
let loaded: Promise<typeof import('undici')> | undefined;

/** After a stop the other side gets this long to close what was given up. */
const closeGraceMs = 500;

interface AgentOptions {
  readonly connectTimeoutMs: number;
  /** How long a connection whose request was given up waits for the other side to close it; absent: not at all. */
  readonly lingerMs?: number;
}

/** Connections that are kept and used again. HTTP/1.1: bulk uploads are faster on it, and answers never overtake. */
export class HttpAgent {
  readonly #options: AgentOptions;
  readonly #lingering = new Set<Lingering>();
  #opened: Promise<Dispatcher> | undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  /** Resolves once a request can go out without a further wait for the package. */
  dispatcher(): Promise<Dispatcher> {
    this.#opened ??= openDispatcher(this.#options.connectTimeoutMs, (socket) => this.#wrap(socket));
    return this.#opened;
  }

  /**
   * Asked right after a request has failed: undefined if it can't arrive any more. Else its connection, and maybe others, are
   * being closed: true once the other side has closed them all, false if it has not in time.
   */
  closing(): Promise<boolean> | undefined {
    if (this.#lingering.size === 0) return undefined;
    return Promise.all([...this.#lingering].map(({ isClosed }) => isClosed)).then((all) => all.every(Boolean));
  }

  /** Ends all connections. What was given up may be closed by the other side for a moment first. */
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
      // Not at once: the sender of the request is about to ask.
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
        // Its type knows sockets alone, but any duplex stream does.
        else done(null, wrap(readBeforeBreaking(socket)) as Socket);
      });
    },
  });
}

/** How many times a server may announce an answer (RFC 9110, 15.2) before it gives one. */
const maxAnnouncements = 10;

/** Sends one request and reads its answer. Throws what the network threw when no answer began. */
export async function sendRequest(given: HttpRequestOptions): Promise<HttpAnswer> {
  const late = new AbortController();
  const giveUp = () => late.abort(new Error('the answer took too long'));
  let announcements = 0;
  const { request } = await loadHttp();
  const { statusCode, headers, body } = await request(given.url, {
    dispatcher: await given.agent.dispatcher(),
    method: given.method,
    headers: { ...given.headers },
    body: given.body ?? null,
    headersTimeout: given.timeoutMs,
    bodyTimeout: given.timeoutMs,
    // The wait for an answer begins again with each.
    onInfo: () => void (++announcements > maxAnnouncements && giveUp()),
    signal: given.signal === undefined ? late.signal : AbortSignal.any([late.signal, given.signal]),
  });
  const timer = setTimeout(giveUp, given.timeoutMs);
  try {
    const read = await readBounded(body, given.answerLimitBytes);
    return { status: statusCode, headers: flatten(headers), ...read };
  } finally {
    clearTimeout(timer);
  }
}

async function readBounded(body: AsyncIterable<Buffer>, limit: number): Promise<{ text: string; complete: boolean }> {
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
  // What others say is shown: a secret that the cut went through would not be known any more.
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
