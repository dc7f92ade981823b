import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

const kept = 100_000;

/** One request as the service saw it. */
export interface LoggedRequest {
  /** Monotonic milliseconds, comparable between processes of one boot, taken before anything else was done. */
  readonly arrived: number;
  readonly method: string;
  /** Its first 500 characters, without the query, which may carry names and ids of people. */
  readonly path: string;
  /** Address and port of the other end. */
  readonly from: string;
  /** First characters of the key's hash, or `authorization`; never the key. */
  credentials: string | null;
  /** Whose limits it was paid from; null when it was not authenticated. */
  company: string | null;
  /** What was answered; null while it runs, and when the client went away first. */
  status: number | null;
}

/** The requests of this service's life, the last hundred thousand in memory, all of them in a file where one is named. */
export class RequestLog {
  readonly #entries: LoggedRequest[] = [];
  readonly #file: WriteStream | undefined;

  constructor(file?: string) {
    this.#file = file === undefined ? undefined : createWriteStream(file, { flags: 'a', mode: 0o600 });
    // A log that cannot be written must not take the service down; the one in memory goes on.
    this.#file?.on('error', () => undefined);
  }

  get entries(): readonly LoggedRequest[] {
    return this.#entries;
  }

  begin(entry: LoggedRequest): void {
    this.#entries.push(entry);
    if (this.#entries.length > kept * 1.1) this.#entries.splice(0, this.#entries.length - kept);
  }

  /** Writes the line of a request that has been answered or given up. */
  end(entry: LoggedRequest): void {
    this.#file?.write(`${JSON.stringify(entry)}\n`);
  }

  clear(): void {
    this.#entries.length = 0;
  }

  async close(): Promise<void> {
    if (this.#file === undefined) return;
    this.#file.end();
    await finished(this.#file).catch(() => undefined);
  }
}
