import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Client } from 'undici';
import { type Problem, type Token, withRetries } from '#sdk';
import { BigqueryError, bigqueryError, bigqueryProblem } from './bigquery-problems.ts';
import { brokenProtocol } from './broken-protocol.ts';
import type { LoginOptions } from './driver.ts';
import { openClient } from './http-client.ts';
import { readTls } from './tls-files.ts';

const unzip = promisify(gunzip);

/** Retries of a request that reads the result of a query that has been paid for. */
const maxRetries = 3;
/** How long the request that cancels a query may take. */
const cancelMs = 5000;

/** Requests to BigQuery's API. https://cloud.google.com/bigquery/docs/reference/rest */
export class BigqueryApi {
  readonly #options: LoginOptions;
  readonly #client: Client;
  #isConnected = false;

  private constructor(options: LoginOptions, client: Client) {
    this.#options = options;
    this.#client = client;
  }

  static async open(options: LoginOptions): Promise<BigqueryApi> {
    return new BigqueryApi(options, openClient(options, await readTls(options.address.tls, options.folder)));
  }

  /** Sends a request to `path` within the project. Throws a Problem, or the signal's reason. */
  async post<T>(path: string, body: object): Promise<T> {
    return this.#ask<T>({ method: 'POST', path, body: JSON.stringify(body) }, this.#options.signal);
  }

  /** Reads from `path` within the project. Retries after transient errors. */
  async get<T>(path: string): Promise<T> {
    const { signal, log } = this.#options;
    const onPause = ({ message }: Problem, pauseMs: number) => log.info('retrying a request', { message, pauseMs });
    return withRetries({ retries: maxRetries, signal, onPause }, () => this.#ask<T>({ method: 'GET', path }, signal));
  }

  /** Cancels a query, although the run may have been stopped. Does nothing if that fails. */
  async cancel(path: string): Promise<void> {
    await this.#ask({ method: 'POST', path, body: '' }, AbortSignal.timeout(cancelMs)).catch(() => undefined);
  }

  close(): void {
    void this.#client.destroy();
  }

  async #ask<T>(request: Request, signal: AbortSignal): Promise<T> {
    const { address, server } = this.#options;
    try {
      return await this.#askWithToken<T>(request, signal);
    } catch (thrown) {
      signal.throwIfAborted();
      throw bigqueryProblem(thrown, {
        place: server.place,
        connectSeconds: address.connectSeconds,
        isConnected: this.#isConnected,
      });
    }
  }

  /** A token that the API refuses is replaced once, because it may have been revoked. */
  async #askWithToken<T>(request: Request, signal: AbortSignal): Promise<T> {
    const { login, server } = this.#options;
    if (login === undefined) return this.#send<T>(request, server.password ?? '', signal);
    const token = await login.token();
    try {
      return await this.#send<T>(request, token.access_token, signal);
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      await login.refused(token);
      const next: Token = await login.token();
      return await this.#send<T>(request, next.access_token, signal);
    }
  }

  async #send<T>({ method, path, body }: Request, token: string, signal: AbortSignal): Promise<T> {
    const { address } = this.#options;
    const response = await this.#client.request({
      method,
      path: `/bigquery/v2/projects/${encodeURIComponent(address.project ?? '')}/${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'accept-encoding': 'gzip',
        // Google compresses responses only if the name of the client contains this word.
        'user-agent': `${address.applicationName} (gzip)`,
      },
      ...(body === undefined ? {} : { body }),
      signal,
    });
    const { statusCode } = response;
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const text = String(response.headers['content-encoding'] === 'gzip' ? await unzip(bytes) : bytes);
    if (statusCode !== 200) throw bigqueryError(statusCode, text);
    this.#isConnected = true;
    try {
      return JSON.parse(text) as T;
    } catch {
      throw brokenProtocol('a response that is not JSON');
    }
  }
}

interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

const isRefusal = (thrown: unknown) => thrown instanceof BigqueryError && thrown.status === 401;
