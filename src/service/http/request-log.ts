import { createWriteStream, openSync, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { refuseForeignLinks } from '../../lib/foreign-links.ts';
import { Problem } from '../../lib/problem.ts';

const maxEntries = 100_000;

/** A logged request. */
export interface LoggedRequest {
  /** 1 is the first of this service's life; never given twice, also not after the log was cleared. */
  readonly id: number;
  /** When it came, ISO 8601 UTC by the service's clock. */
  readonly time: string;
  /** Arrival in monotonic milliseconds, comparable between processes of one boot. */
  readonly arrived: number;
  readonly method: string;
  /** Its first 500 characters, without the query, which may carry names and ids of people. */
  readonly path: string;
  /** Address and port of the other end. */
  readonly from: string;
  /** `key` and the first characters of the key's hash, or `authorization`; never the key. */
  credentials: string | null;
  /** The id of the user; null if the request was not authenticated. */
  user: string | null;
  /** Whose limits it was paid from; null when it was not authenticated. */
  company: string | null;
  /** What was answered; null while it runs, and when the client went away first. */
  status: number | null;
  /** Bytes of its body that were read. */
  bytes_in: number;
  /** Bytes of the answer, its head included, that went out; null while it runs. */
  bytes_out: number | null;
  /** Milliseconds until it was over; null while it runs. */
  took_ms: number | null;
  /** The injected fault, as `rule id: effect`; null for none. */
  fault: string | null;
}

/** The request log of this process: the last hundred thousand in memory, optionally all of them in a file. */
export class RequestLog {
  readonly #entries: LoggedRequest[] = [];
  readonly #listeners = new Set<(entry: LoggedRequest) => void>();
  readonly #file: WriteStream | undefined;
  #begun = 0;
  #last = { now: Number.NaN, text: '' };

  /** Throws a Problem when the file cannot be written. */
  constructor(file?: string) {
    this.#file = file === undefined ? undefined : createWriteStream(file, { fd: opened(file) });
    // A log file that can't be written must not stop the service; the log in memory continues.
    this.#file?.on('error', () => undefined);
  }

  /** Running and completed requests, in order of arrival. */
  get entries(): readonly LoggedRequest[] {
    return this.#entries;
  }

  /** `now` is the wall clock. */
  begin(given: Pick<LoggedRequest, 'arrived' | 'method' | 'path' | 'from'> & { readonly now: number }): LoggedRequest {
    this.#begun += 1;
    const entry: LoggedRequest = {
      id: this.#begun,
      time: this.#textOf(given.now),
      arrived: given.arrived,
      method: given.method,
      path: given.path,
      from: given.from,
      credentials: null,
      user: null,
      company: null,
      status: null,
      bytes_in: 0,
      bytes_out: null,
      took_ms: null,
      fault: null,
    };
    this.#entries.push(entry);
    if (this.#entries.length > maxEntries * 1.1) this.#entries.splice(0, this.#entries.length - maxEntries);
    return entry;
  }

  /** The requests of one millisecond share the text of it. */
  #textOf(now: number): string {
    if (now !== this.#last.now) this.#last = { now, text: new Date(now).toISOString() };
    return this.#last.text;
  }

  /** Writes the line of a request that was answered or aborted. */
  end(entry: LoggedRequest): void {
    this.#file?.write(`${JSON.stringify(entry)}\n`);
    for (const listener of this.#listeners) listener(entry);
  }

  /** Calls the listener for every completed request. Returns a function that removes it. */
  onEnd(listener: (entry: LoggedRequest) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Clears the entries in memory; the file keeps its lines. Returns how many were cleared. */
  clear(): number {
    return this.#entries.splice(0).length;
  }

  async close(): Promise<void> {
    if (this.#file === undefined) return;
    this.#file.end();
    await finished(this.#file).catch(() => undefined);
  }
}

/** Opened at startup, so that an unwritable path is reported before the service listens. */
function opened(file: string): number {
  try {
    refuseForeignLinks(file);
    return openSync(file, 'a', 0o600);
  } catch (cause) {
    throw new Problem({
      code: 'SERVICE_REQUEST_LOG',
      family: 'config',
      message: `the request log cannot be written: ${(cause as Error).message}`,
      where: { file },
      next: 'use --request-log to name a writable file',
      cause,
    });
  }
}
