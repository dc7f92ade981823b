import type { Client } from 'undici';
import { type Problem, withRetries } from '#sdk';
import { apiProblem, ProviderError } from './api-problems.ts';
import type { LoginOptions } from './driver.ts';
import { openClient } from './http-client.ts';
import { type JsonRequest, parsedAnswer, sendJson } from './json-api.ts';
import type { ErrorMeaning } from './server-problems.ts';
import { readTls } from './tls-files.ts';

/** Retries of a request that reads the result of a query that has been paid for. */
const maxRetries = 3;
/** How long the request that cancels a query may take. */
const cancelMs = 5000;

/** What one provider's API needs, and what its errors mean. */
export interface ApiKind {
  /** The headers that log in. They're asked for again for each request. */
  headers(): Promise<Readonly<Record<string, string>>>;
  /** Called if the API refuses the headers. Returns whether there are now other ones. */
  renew(): Promise<boolean>;
  /** The error in the body of a response with another status than 200 or 202. */
  errorIn(status: number, text: string): ProviderError;
  meaningOf(error: ProviderError, isConnected: boolean): ErrorMeaning;
}

type Request = Omit<JsonRequest, 'headers'>;

/** A response with a status of 200 or, if there's no result yet, 202. */
export interface ApiAnswer<T> {
  readonly status: number;
  readonly body: T;
}

/** Requests to a provider's HTTP API, over one connection. */
export class ApiSession {
  readonly #options: LoginOptions;
  readonly #client: Client;
  readonly #kind: ApiKind;
  #isConnected = false;

  private constructor(options: LoginOptions, client: Client, kind: ApiKind) {
    this.#options = options;
    this.#client = client;
    this.#kind = kind;
  }

  static async open(options: LoginOptions, kind: ApiKind): Promise<ApiSession> {
    return new ApiSession(options, openClient(options, await readTls(options.address.tls, options.folder)), kind);
  }

  /** Sends a request. Throws a Problem, or the signal's reason. */
  post<T>(path: string, body: object): Promise<ApiAnswer<T>> {
    return this.#ask({ method: 'POST', path, body: JSON.stringify(body) }, this.#options.signal);
  }

  /** Reads a result, or its state. Retries after transient errors. */
  get<T>(path: string): Promise<ApiAnswer<T>> {
    const { signal, log } = this.#options;
    const onPause = ({ message }: Problem, pauseMs: number) =>
      log.warn('retrying after a pause', { because: message, pauseMs: Math.round(pauseMs) });
    return withRetries({ retries: maxRetries, signal, onPause }, () => this.#ask({ method: 'GET', path }, signal));
  }

  /** Cancels a query, although the run may have been stopped. Does nothing if that fails. */
  async cancel(path: string): Promise<void> {
    await this.#ask({ method: 'POST', path, body: '{}' }, AbortSignal.timeout(cancelMs)).catch(() => undefined);
  }

  close(): void {
    void this.#client.destroy();
  }

  async #ask<T>(request: Request, signal: AbortSignal): Promise<ApiAnswer<T>> {
    const { address, server } = this.#options;
    try {
      return await this.#renewing(() => this.#send<T>(request, signal));
    } catch (thrown) {
      signal.throwIfAborted();
      throw apiProblem(thrown, {
        place: server.place,
        connectSeconds: address.connectSeconds,
        isConnected: this.#isConnected,
        meaningOf: (error) => this.#kind.meaningOf(error, this.#isConnected),
      });
    }
  }

  /** A token that the API refuses is replaced once, because it may have been revoked. */
  async #renewing<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (thrown) {
      const isRefused = thrown instanceof ProviderError && thrown.status === 401;
      if (!isRefused || !(await this.#kind.renew())) throw thrown;
      return send();
    }
  }

  async #send<T>(request: Request, signal: AbortSignal): Promise<ApiAnswer<T>> {
    const { status, text } = await sendJson(this.#client, { ...request, headers: await this.#kind.headers() }, signal);
    if (status !== 200 && status !== 202) throw this.#kind.errorIn(status, text);
    this.#isConnected = true;
    return { status, body: parsedAnswer<T>(text) };
  }
}
