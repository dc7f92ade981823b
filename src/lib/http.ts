import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { readBeforeBreaking } from './patient-socket.ts';

/** One request. The body is made anew for each, so that a repeated one starts at the first byte. */
export interface HttpRequest {
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

/** Connections that are kept and used again. HTTP/1.1: bulk uploads are faster on it, and answers never overtake. */
export class HttpAgent {
  readonly #connectTimeoutMs: number;
  #opened: Promise<Dispatcher> | undefined;

  constructor({ connectTimeoutMs }: { connectTimeoutMs: number }) {
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** Resolves once a request can go out without a further wait for the package. */
  dispatcher(): Promise<Dispatcher> {
    this.#opened ??= openDispatcher(this.#connectTimeoutMs);
    return this.#opened;
  }

  /** Ends all connections at once. */
  async destroy(): Promise<void> {
    await (await this.#opened)?.destroy();
  }
}

async function openDispatcher(timeout: number): Promise<Dispatcher> {
  const { Agent, buildConnector } = await loadHttp();
  const connect = buildConnector({ timeout, allowH2: false });
  return new Agent({
    allowH2: false,
    pipelining: 1,
    connect: (to, done) => {
      connect(to, (...[error, socket]) => {
        if (error) done(error, null);
        else done(null, readBeforeBreaking(socket));
      });
    },
  });
}

/** How many times a server may announce an answer (RFC 9110, 15.2) before it gives one. */
const maxAnnouncements = 10;

/** Sends one request and reads its answer. Throws what the network threw when no answer began. */
export async function sendRequest(given: HttpRequest): Promise<HttpAnswer> {
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
  return { text: Buffer.concat(pieces).toString('utf8'), complete };
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) flat[name.toLowerCase()] = first;
  }
  return flat;
}

/**
 * `Retry-After` in milliseconds, seconds or a date; undefined when absent or unreadable. A date is measured against the
 * sender's own `Date`, so that two clocks need not agree.
 */
export function retryAfterOf(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  if (Number.isNaN(at)) return undefined;
  const sent = Date.parse(headers.date ?? '');
  return Math.max(0, at - (Number.isNaN(sent) ? now : sent));
}
