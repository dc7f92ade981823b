import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { exponentialMs } from '../../lib/backoff.ts';
import { HttpAgent, type HttpAnswer, type OpenAnswer, openRequest, readBounded } from '../../lib/http.ts';
import { passingAnswer } from '../../lib/passing-answer.ts';
import type { Problem } from '../../lib/problem.ts';
import type { AwsLogin } from '../../secrets/aws-login.ts';
import type { PayloadsBucket } from '../engine/state-database.ts';
import { S3Login } from './s3-login.ts';
import { lostConnection, refusedRequest, type S3Refusal } from './s3-problems.ts';
import { signS3 } from './sign-s3.ts';

const connectTimeoutMs = 5000;
/** Maximum time without any progress. */
const stallMs = 20_000;
/** Failed requests are repeated until this time has passed since the first failure, as statements of the database are. */
const patienceMs = 15_000;
const backoff = { firstMs: 200, maxMs: 3000, jitter: 0.5 };
const shownBytes = 64 * 1024;
/** More than a page with the maximum of 1000 keys. */
const listBytes = 4 * 1024 * 1024;
const emptyHash = createHash('sha256').digest('hex');

/** The content of an object that is to be written. */
export interface S3Body {
  readonly bytes: number;
  /** Lowercase hex. */
  readonly sha256: string;
  /** Returns the bytes from the first one, each time it's called. */
  readonly pieces: () => AsyncIterable<Buffer>;
}

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: S3Body;
  /** The position of the first byte to read. */
  readonly from?: number;
}

/**
 * Reads and writes the objects of a bucket. Repeats requests that fail because of the network or a busy server. Throws
 * `PAYLOADS_UNREACHABLE` or `PAYLOADS_REFUSED`.
 */
export class S3Client {
  readonly #bucket: PayloadsBucket;
  readonly #login: S3Login;
  readonly #agent = new HttpAgent({ connectTimeoutMs });
  readonly #closing = new AbortController();
  /** The difference between the server's clock and this machine's. Servers refuse requests that are 15 minutes off. */
  #clockOffsetMs = 0;

  constructor(bucket: PayloadsBucket) {
    this.#bucket = bucket;
    this.#login = new S3Login(bucket);
  }

  async has(key: string): Promise<boolean> {
    const answer = await this.#send({ method: 'GET', key });
    if (answer !== undefined) await readBounded(answer.body, shownBytes);
    return answer !== undefined;
  }

  async put(key: string, body: S3Body): Promise<void> {
    const { body: answer } = await this.#send({ method: 'PUT', key, body });
    await readBounded(answer, shownBytes);
  }

  async delete(key: string): Promise<void> {
    const answer = await this.#send({ method: 'DELETE', key });
    if (answer !== undefined) await readBounded(answer.body, shownBytes);
  }

  /** Yields the keys of all objects that begin with a prefix. */
  async *list(prefix: string): AsyncGenerator<string> {
    for (let token: string | undefined = ''; token !== undefined; ) {
      const query: Record<string, string> = { 'list-type': '2', prefix };
      if (token !== '') query['continuation-token'] = token;
      const answer: OpenAnswer | undefined = await this.#send({ method: 'GET', key: '', query });
      const { text } = await readBounded(answer?.body ?? Readable.from([]), listBytes);
      token = tagIn(text, 'NextContinuationToken');
      for (const [, key] of text.matchAll(/<Key>([^<]+)<\/Key>/g)) yield key!;
    }
  }

  /** Yields the object's bytes, or nothing if there is no such object. A broken transfer continues where it broke. */
  async *get(key: string): AsyncGenerator<Buffer> {
    let from = 0;
    let patience = new Patience();
    for (;;) {
      const answer = await this.#send({ method: 'GET', key, from });
      if (answer === undefined) return;
      // A server may ignore the range.
      let skip = answer.status === 206 ? 0 : from;
      try {
        for await (const piece of answer.body as AsyncIterable<Buffer>) {
          const wanted = piece.subarray(Math.min(skip, piece.length));
          skip -= piece.length - wanted.length;
          if (wanted.length === 0) continue;
          from += wanted.length;
          patience = new Patience();
          yield wanted;
        }
        return;
      } catch (error) {
        await this.#pause(patience, lostConnection(this.#bucket, error));
      } finally {
        answer.body.destroy();
      }
    }
  }

  /** Ends all requests. From then on, requests fail at once. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#agent.destroy(), this.#login.close()]);
  }

  #send(request: S3Request & { method: 'PUT' }): Promise<OpenAnswer>;
  #send(request: S3Request): Promise<OpenAnswer | undefined>;
  /** Returns a successful response; undefined if there is no such object. */
  async #send(request: S3Request): Promise<OpenAnswer | undefined> {
    const patience = new Patience();
    let hasOffset = false;
    let hasNewLogin = false;
    for (;;) {
      const now = Date.now() + this.#clockOffsetMs;
      const login = await this.#login.get(now);
      const outcome = await this.#attempt(request, { login, now });
      if (!('problem' in outcome)) return outcome;
      const { problem, refusal, retryAfterMs } = outcome;
      if (isMissing(refusal) && request.method !== 'PUT') return undefined;
      if (refusal?.code === 'RequestTimeTooSkewed' && !hasOffset && refusal.date !== undefined) {
        this.#clockOffsetMs = refusal.date - Date.now();
        hasOffset = true;
      } else if (!hasNewLogin && this.#login.forget(login, refusal?.code)) hasNewLogin = true;
      else if (retryAfterMs === undefined) throw problem;
      else await this.#pause(patience, problem, retryAfterMs);
    }
  }

  /** Waits before the next attempt. Throws the problem if it's too late for one. */
  async #pause(patience: Patience, problem: Problem, retryAfterMs = 0): Promise<void> {
    const waitMs = patience.nextWaitMs(retryAfterMs);
    if (waitMs === undefined || this.#closing.signal.aborted) throw problem;
    await sleep(waitMs, undefined, { signal: this.#closing.signal }).catch(() => {
      throw problem;
    });
  }

  async #attempt(request: S3Request, signer: Signer): Promise<OpenAnswer | Failure> {
    const stalled = new StallTimer();
    try {
      const answer = await this.#open(request, { stalled, ...signer });
      stalled.stop();
      return answer.status < 300 ? answer : await this.#failureOf(answer);
    } catch (error) {
      if (stalled.sourceError !== undefined) throw stalled.sourceError;
      return { problem: lostConnection(this.#bucket, stalled.signal.reason ?? error), retryAfterMs: 0 };
    } finally {
      stalled.stop();
    }
  }

  async #open(
    { method, body, from = 0, ...object }: S3Request,
    { stalled, ...signer }: Signer & { readonly stalled: StallTimer },
  ): Promise<OpenAnswer> {
    const url = this.#urlOf(object);
    const sha256 = body?.sha256 ?? emptyHash;
    const headers = await signS3({ ...signer, method, url, sha256, region: this.#bucket.region });
    if (from > 0) headers.range = `bytes=${from}-`;
    if (body !== undefined) headers['content-length'] = String(body.bytes);
    return openRequest({
      ...{ agent: this.#agent, method, url, headers },
      ...(body === undefined ? {} : { body: Readable.from(stalled.watch(body.pieces()), { objectMode: false }) }),
      timeoutMs: stallMs,
      signal: AbortSignal.any([stalled.signal, this.#closing.signal]),
    });
  }

  async #failureOf({ status, headers, body }: OpenAnswer): Promise<Failure> {
    const { text } = await readBounded(body, shownBytes);
    const refusal = refusalIn({ status, headers, text });
    const problem = refusedRequest(this.#bucket, refusal);
    // The server didn't get the rest of the request in time.
    const isTimeout = refusal.code === 'RequestTimeout';
    const passing = isTimeout ? { retryAfterMs: 0 } : passingAnswer(status, headers, Date.now());
    return { problem, refusal, retryAfterMs: passing && (passing.retryAfterMs ?? 0) };
  }

  #urlOf({ key, query }: Pick<S3Request, 'key' | 'query'>): string {
    const { endpoint, bucket, isPathStyle } = this.#bucket;
    const root = isPathStyle ? `${endpoint}/${bucket}` : endpoint.replace('://', `://${bucket}.`);
    const path = key.split('/').map(encodeURIComponent).join('/');
    // In the form that is signed: spaces as %20.
    const search = Object.entries(query ?? {}).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    return `${root}/${path}${search.length === 0 ? '' : `?${search.join('&')}`}`;
  }
}

/** The credentials for a request, and its time, in epoch milliseconds. */
interface Signer {
  readonly login: AwsLogin;
  readonly now: number;
}

interface Failure {
  readonly problem: Problem;
  readonly refusal?: S3Refusal;
  /** The minimum wait before another attempt. Undefined if another attempt is pointless. */
  readonly retryAfterMs: number | undefined;
}

/** There's no such object, or no byte of it after those that were read. */
const isMissing = (refusal?: S3Refusal): boolean =>
  (refusal?.status === 404 && refusal.code !== 'NoSuchBucket') || refusal?.status === 416;

function refusalIn({ status, headers, text }: Pick<HttpAnswer, 'status' | 'headers' | 'text'>): S3Refusal {
  const date = Date.parse(headers.date ?? '');
  const reason = { code: tagIn(text, 'Code'), message: tagIn(text, 'Message') };
  return { status, ...reason, ...(Number.isNaN(date) ? {} : { date }) };
}

const tagIn = (text: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1];

/** How long a client waits between attempts, and for how long altogether. */
class Patience {
  readonly #until = performance.now() + patienceMs;
  #tries = 0;

  /** Undefined if it's over. */
  nextWaitMs(retryAfterMs: number): number | undefined {
    const waitMs = Math.max(exponentialMs(this.#tries++, backoff), retryAfterMs);
    return performance.now() + waitMs > this.#until ? undefined : waitMs;
  }
}

/** Cancels a request whose body the server stops reading, for which the HTTP package has no timeout. */
class StallTimer {
  readonly #late = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  /** Why the body couldn't be read. */
  sourceError: unknown;

  get signal(): AbortSignal {
    return this.#late.signal;
  }

  /** Passes pieces on as copies, because their source reuses its memory while they are still being sent. */
  async *watch(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      for await (const piece of pieces) {
        this.#restart();
        yield Buffer.from(piece);
      }
    } catch (error) {
      this.sourceError = error;
      throw error;
    } finally {
      this.stop();
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #restart(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#late.abort(new Error('the server stopped reading')), stallMs);
  }
}
