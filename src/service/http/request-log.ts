import { createWriteStream, openSync, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { refuseForeignLinks } from '../../lib/foreign-links.ts';
import { Problem } from '../../lib/problem.ts';

const maxEntries = 100_000;

export interface LoggedRequest {
  /** Sequence number. It starts at 1 in each process and is never reused, even after the log is cleared. */
  readonly id: number;
  /** Arrival time according to the service's clock, ISO 8601 UTC. */
  readonly time: string;
  /** Arrival time in monotonic milliseconds, which processes on one machine can compare until it reboots. */
  readonly arrived: number;
  readonly method: string;
  /** The path's first 500 characters, without the query, which may contain names and IDs of people. */
  readonly path: string;
  /** Remote address and port. */
  readonly from: string;
  /**
   * How the caller authenticated: `key` and the first characters of the key's hash, or `authorization`. Never the key
   * itself.
   */
  credentials: string | null;
  /** ID of the user; null if the request wasn't authenticated. */
  user: string | null;
  /** The company whose limits the request counted against; null if the request wasn't authenticated. */
  company: string | null;
  /**
   * HTTP status of the response; null while the request is in progress, or if the client disconnected before the
   * response.
   */
  status: number | null;
  /** Number of bytes read from the request body. */
  bytes_in: number;
  /** Number of response bytes sent, including headers; null while the request is in progress. */
  bytes_out: number | null;
  /** Duration in milliseconds; null while the request is in progress. */
  took_ms: number | null;
  /** The injected fault, as the rule's ID, a colon and the rule's effect; null if there was none. */
  fault: string | null;
}

/**
 * This process's request log. The last 100,000 entries are kept in memory; a log file, if configured, has all of them.
 */
export class RequestLog {
  readonly #entries: LoggedRequest[] = [];
  readonly #listeners = new Set<(entry: LoggedRequest) => void>();
  readonly #file: WriteStream | undefined;
  #begun = 0;
  #last = { now: Number.NaN, text: '' };

  /** Opens the log file. Throws a Problem if the file can't be written. */
  constructor(file?: string) {
    this.#file = file === undefined ? undefined : createWriteStream(file, { fd: opened(file) });
    // If writing to the log file fails, the service keeps running and logs only in memory.
    this.#file?.on('error', () => undefined);
  }

  /** Requests in progress and completed requests, in order of arrival. */
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

  /** Caches the formatted time, because many requests arrive in the same millisecond. */
  #textOf(now: number): string {
    if (now !== this.#last.now) this.#last = { now, text: new Date(now).toISOString() };
    return this.#last.text;
  }

  /** Writes the log line of a completed or aborted request, and notifies the listeners. */
  end(entry: LoggedRequest): void {
    this.#file?.write(`${JSON.stringify(entry)}\n`);
    for (const listener of this.#listeners) listener(entry);
  }

  /** Calls the listener for every request that ends. Returns a function that removes the listener. */
  onEnd(listener: (entry: LoggedRequest) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Clears the entries in memory. The log file isn't changed. Returns the number of cleared entries. */
  clear(): number {
    return this.#entries.splice(0).length;
  }

  async close(): Promise<void> {
    if (this.#file === undefined) return;
    this.#file.end();
    await finished(this.#file).catch(() => undefined);
  }
}

/** Opens the log file at startup, so that an unwritable path is reported before the service accepts requests. */
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
