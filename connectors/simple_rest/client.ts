import type { Readable } from 'node:stream';
import { Agent, request as send } from 'undici';
import { checkedLookup, checkHost, type MayReach } from './addresses.ts';
import { make, networkProblem, refusalProblem, shownUrl } from './problems.ts';
import { type RestRequest, withUrl } from './request.ts';
import { retryAfterMs } from './retry.ts';
import { unpacked } from './unpack.ts';

interface ClientInit {
  /** Longest wait for a connection, for the first byte and between two. */
  readonly timeoutMs: number;
  /** Longest time for one answer as a whole: a server that drips bytes resets the other limit for ever. */
  readonly answerMs: number;
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
  /** Every address is asked about, that of a redirect too; all may be reached unless told. */
  readonly mayReach?: MayReach | undefined;
  /** Origins beside the trusted one that may be asked, without credentials. */
  readonly otherOrigins: readonly string[];
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A success: its body is unpacked and not read yet. Errors of the body are Problems. */
export interface Answer {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly body: AsyncGenerator<Buffer>;
}

const mostRedirects = 5;
const shownBytes = 2048;

/** Sends requests over connections of its own. HTTP/1.1 alone: for bulk it is faster than HTTP/2. */
export class RestClient {
  readonly #init: ClientInit;
  readonly #agent: Agent;

  constructor(init: ClientInit) {
    this.#init = init;
    this.#agent = new Agent({
      allowH2: false,
      connections: 2,
      headersTimeout: init.timeoutMs,
      bodyTimeout: init.timeoutMs,
      connect: {
        timeout: init.timeoutMs,
        ...(init.ca === undefined ? {} : { ca: init.ca }),
        ...(init.mayReach === undefined ? {} : { lookup: checkedLookup(init.mayReach) }),
      },
    });
  }

  /** One attempt, redirects included. Whatever is no success is thrown as a Problem. */
  async send(request: RestRequest): Promise<Answer> {
    const clock = AbortSignal.timeout(this.#init.answerMs);
    const signal = AbortSignal.any([this.#init.signal, clock]);
    let current = request;
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      const response = await this.#once(current, signal);
      if (!isRedirect(response.statusCode)) return await this.#answer(current.url, response);
      await response.body.dump();
      current = this.#redirected(current, response.statusCode, response.headers);
    }
    throw make('REST_REDIRECTS', 'job', `${shownUrl(request.url)} redirects more than ${mostRedirects} times`);
  }

  /** Frees the connections at once. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** Whether a page may stand at that address; says so when it may not. */
  allow(request: RestRequest, url: URL): void {
    const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
    const allowed = [request.trustedOrigin, ...this.#init.otherOrigins.map((origin) => URL.parse(origin)?.origin)];
    if (isHttp && allowed.includes(url.origin)) return;
    throw make('REST_ORIGIN', 'job', 'the answer leads to another origin', {
      seen: shownUrl(url),
      allowed: request.trustedOrigin,
      next: 'list it under `other_origins` of the source if it may be asked; it will not get the credentials',
    });
  }

  async #once(request: RestRequest, signal: AbortSignal) {
    if (this.#init.mayReach !== undefined) checkHost(request.url, this.#init.mayReach);
    const { method, body, plainHeaders, trustedHeaders, trustedOrigin } = request;
    const isTrusted = request.url.origin === trustedOrigin;
    const url = isTrusted ? withKeys(request) : request.url;
    const headers = isTrusted ? { ...plainHeaders, ...trustedHeaders } : plainHeaders;
    try {
      return await send(url, {
        dispatcher: this.#agent,
        method,
        headers,
        signal,
        ...(body === undefined || !isTrusted ? {} : { body }),
      });
    } catch (error) {
      throw this.#failure(request.url, error);
    }
  }

  async #answer(url: URL, response: Awaited<ReturnType<typeof send>>): Promise<Answer> {
    const { statusCode: status, headers } = response;
    const body = this.#read(url, unpacked(response.body, headers['content-encoding']));
    if (status < 300) return { url, status, headers, body };
    const text = await beginning(body).catch(() => '');
    throw refusalProblem({ url, status, text, retryAfterMs: retryAfterMs(headers['retry-after'], Date.now()) });
  }

  async *#read(url: URL, body: Readable): AsyncGenerator<Buffer> {
    try {
      yield* body as AsyncIterable<Buffer>;
    } catch (error) {
      throw this.#failure(url, error);
    } finally {
      body.destroy();
    }
  }

  #failure(url: URL, error: unknown): unknown {
    const { signal } = this.#init;
    return signal.aborted ? signal.reason : networkProblem(url, error);
  }

  #redirected(request: RestRequest, status: number, headers: Headers): RestRequest {
    const location = [headers.location ?? []].flat()[0];
    const url = location === undefined ? null : URL.parse(location, request.url);
    if (url === null) throw make('REST_REDIRECTS', 'job', `${shownUrl(request.url)} redirects to nowhere`);
    this.allow(request, url);
    const keepsMethod = status >= 307 || request.method === 'GET' || request.method === 'HEAD';
    return keepsMethod ? withUrl(request, url) : { ...request, url, method: 'GET', body: undefined };
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function withKeys({ url, trustedQuery }: RestRequest): URL {
  const keyed = new URL(url);
  for (const [name, value] of trustedQuery) keyed.searchParams.set(name, value);
  return keyed;
}

async function beginning(body: AsyncGenerator<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    parts.push(chunk);
    size += chunk.length;
    if (size >= shownBytes) break;
  }
  return Buffer.concat(parts).toString('utf8', 0, shownBytes);
}
