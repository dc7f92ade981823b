import type { Readable } from 'node:stream';
import { Agent, request as send } from 'undici';
import { passingAnswer } from '../../lib/passing-answer.ts';
import { setParameter } from './address-query.ts';
import { checkedLookup, checkHost, type MayReach } from './addresses.ts';
import { AnswerDeadline } from './answer-deadline.ts';
import { httpProblem, networkProblem, refusalProblem, shownUrl } from './problems.ts';
import { readBeginning } from './read-beginning.ts';
import { type HttpRequest, withoutKeys, withUrl } from './request.ts';
import { unpacked } from './unpack.ts';

/** Limits for a run's requests. */
export interface HttpClientOptions {
  /** Timeout for connecting, for the first byte, and between bytes. */
  readonly timeoutMs: number;
  /** Timeout for a whole response, because a server that sends bytes very slowly never triggers the other timeout. */
  readonly answerMs: number;
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
  /** Decides whether an address, which may be a redirect target, is allowed. By default, all addresses are. */
  readonly mayReach?: MayReach | undefined;
  /**
   * Origins that requests may contact besides the trusted one, but without credentials; `any` if the vendor's redirects
   * are unpredictable.
   */
  readonly otherOrigins: readonly string[] | 'any';
  /** Number of requests that the caller sends at once. Default: 2. */
  readonly requestsAtOnce?: number | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A response with any status code. Its decompressed body hasn't been read yet, and reading it may throw a Problem. */
export interface HttpResponse {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly body: AsyncGenerator<Buffer>;
}

const maxRedirects = 5;

/** Sends requests over its own connections. Uses only HTTP/1.1, which is faster than HTTP/2 for bulk data. */
export class HttpClient {
  readonly #init: HttpClientOptions;
  readonly #agent: Agent;

  constructor(init: HttpClientOptions) {
    this.#init = init;
    this.#agent = new Agent({
      allowH2: false,
      connections: Math.max(2, init.requestsAtOnce ?? 2),
      headersTimeout: init.timeoutMs,
      bodyTimeout: init.timeoutMs,
      connect: {
        timeout: init.timeoutMs,
        ca: init.ca,
        lookup: init.mayReach === undefined ? undefined : checkedLookup(init.mayReach),
      },
    });
  }

  /** Makes one attempt and follows redirects. Throws a Problem for every response that isn't successful. */
  async fetch(request: HttpRequest): Promise<HttpResponse> {
    return this.accept(await this.send(request));
  }

  /** Returns the response if it's successful; otherwise, throws a Problem with the beginning of the response body. */
  async accept(answer: HttpResponse): Promise<HttpResponse> {
    if (answer.status < 300) return answer;
    const { url, status, headers } = answer;
    const text = await readBeginning(answer.body).catch(() => '');
    throw refusalProblem({ url, status, text, passing: passingAnswer(status, headers, Date.now()) });
  }

  /**
   * Makes one attempt and follows redirects, unless the caller needs the redirect itself. Returns responses with any
   * status; throws a Problem only if the network fails.
   */
  async send(request: HttpRequest, { follows = true } = {}): Promise<HttpResponse> {
    const deadline = new AnswerDeadline(this.#init.signal, this.#init.answerMs);
    try {
      return await this.#follow(request, { follows, deadline });
    } catch (error) {
      deadline.release();
      throw error;
    }
  }

  /** Closes the connections immediately. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** Throws a Problem if this URL isn't allowed for the next page. */
  allow(request: HttpRequest, url: URL): void {
    const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
    const { otherOrigins } = this.#init;
    if (isHttp && (url.origin === request.trustedOrigin || isListed(url, otherOrigins))) return;
    throw httpProblem('REST_ORIGIN', 'job', 'the response redirects to another origin', {
      seen: shownUrl(url),
      allowed: request.trustedOrigin,
      next: 'if Sluice may follow this redirect, add the origin to `other_origins` in the source; the origin does not receive the credentials',
    });
  }

  async #follow(
    request: HttpRequest,
    { follows, deadline }: { follows: boolean; deadline: AnswerDeadline },
  ): Promise<HttpResponse> {
    let current = request;
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      const response = await this.#once(current, deadline.signal);
      if (!follows || !isRedirect(response.statusCode)) return this.#answer(current.url, response, deadline);
      await response.body.dump();
      current = this.#redirected(current, response.statusCode, response.headers);
    }
    throw httpProblem('REST_REDIRECTS', 'job', `${shownUrl(request.url)} redirected more than ${maxRedirects} times`);
  }

  async #once(request: HttpRequest, signal: AbortSignal) {
    if (this.#init.mayReach !== undefined) checkHost(request.url, this.#init.mayReach);
    const { method, body, plainHeaders, trustedHeaders, trustedOrigin } = request;
    const isTrusted = request.url.origin === trustedOrigin;
    const url = isTrusted ? withKeys(request) : withoutKeys(request);
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

  #answer(url: URL, response: Awaited<ReturnType<typeof send>>, deadline: AnswerDeadline): HttpResponse {
    const { statusCode: status, headers } = response;
    const body = unpacked(response.body, headers['content-encoding']);
    return { url, status, headers, body: this.#read(url, body, deadline) };
  }

  async *#read(url: URL, body: Readable, deadline: AnswerDeadline): AsyncGenerator<Buffer> {
    try {
      yield* body as AsyncIterable<Buffer>;
    } catch (error) {
      throw this.#failure(url, error);
    } finally {
      body.destroy();
      deadline.release();
    }
  }

  #failure(url: URL, error: unknown): unknown {
    const { signal } = this.#init;
    return signal.aborted ? signal.reason : networkProblem(url, error);
  }

  #redirected(request: HttpRequest, status: number, headers: Headers): HttpRequest {
    const location = [headers.location ?? []].flat()[0];
    const url = location === undefined ? null : URL.parse(location, request.url);
    if (url === null)
      throw httpProblem('REST_REDIRECTS', 'job', `${shownUrl(request.url)} redirected without a location`);
    this.allow(request, url);
    const keepsMethod = status >= 307 || request.method === 'GET' || request.method === 'HEAD';
    return keepsMethod ? withUrl(request, url) : { ...request, url, method: 'GET', body: undefined };
  }
}

function isListed(url: URL, origins: readonly string[] | 'any'): boolean {
  return origins === 'any' || origins.some((origin) => URL.parse(origin)?.origin === url.origin);
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function withKeys({ url, trustedQuery }: HttpRequest): URL {
  const keyed = new URL(url);
  for (const [name, value] of trustedQuery) setParameter(keyed, name, value);
  return keyed;
}
