import { createWriteStream, openSync, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { refuseForeignLinks } from '../../lib/foreign-links.ts';
import { Problem } from '../../lib/problem.ts';

const maxEntries = 100_000;

export interface LoggedRequest {
  /** Starts at 1 in each process and is never reused, even after the log is cleared. */
  readonly id: number;
  /** Arrival time according to the service's clock, ISO 8601 UTC. */
  readonly time: string;
  /** Arrival in monotonic milliseconds, comparable between processes of one boot. */
  readonly arrived: number;
  readonly method: string;
  /** The first 500 characters, without the query, which may contain names and IDs of people. */
  readonly path: string;
  /** Remote address and port. */
  readonly from: string;
  /** `key` and the first characters of the key's hash, or `authorization`; never the key itself. */
  credentials: string | null;
  /** User ID; null if the request wasn't authenticated. */
  user: string | null;
  /** The company whose limits the request counted against; null if the request wasn't authenticated. */
  company: string | null;
  /** HTTP status; null while in progress, or if the client disconnected first. */
  status: number | null;
  /** Bytes read of the request body. */
  bytes_in: number;
  /** Bytes sent of the response, including headers; null while in progress. */
  bytes_out: number | null;
  /** Duration in milliseconds; null while in progress. */
  took_ms: number | null;
  /** The injected fault as `rule id: effect`; null if none. */
  fault: string | null;
}

/** The request log of this process: the last hundred thousand entries in memory, and optionally all in a file. */
export class RequestLog {
  readonly #entries: LoggedRequest[] = [];
  readonly #listeners = new Set<(entry: LoggedRequest) => void>();
  readonly #file: WriteStream | undefined;
  #begun = 0;
  #last = { now: Number.NaN, text: '' };

  /** Throws a Problem if the file can't be written. */
  constructor(file?: string) {
    this.#file = file === undefined ? undefined : createWriteStream(file, { fd: opened(file) });
    // If the log file can't be written, the service keeps running and logs only in memory.
    this.#file?.on('error', () => undefined);
  }

  /** Requests in progress and completed ones, in order of arrival. */
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

  /** Caches the formatted time, because many requests share a millisecond. */
  #textOf(now: number): string {
    if (now !== this.#last.now) this.#last = { now, text: new Date(now).toISOString() };
    return this.#last.text;
  }

  /** Writes the line for a completed or aborted request. */
  end(entry: LoggedRequest): void {
    this.#file?.write(`${JSON.stringify(entry)}\n`);
    for (const listener of this.#listeners) listener(entry);
  }

  /** Calls the listener for every completed request. Returns a function that removes it. */
  onEnd(listener: (entry: LoggedRequest) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Clears the entries in memory; the file keeps its lines. Returns the number of cleared entries. */
  clear(): number {
    return this.#entries.splice(0).length;
  }

  async close(): Promise<void> {
    if (this.#file === undefined) return;
    this.#file.end();
    await finished(this.#file).catch(() => undefined);
  }
}

/** Opened at startup, so an unwritable path is reported before the service listens. */
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
      next: 'set --request-log to a writable file',
      cause,
    });
  }
}
