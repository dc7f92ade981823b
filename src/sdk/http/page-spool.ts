import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openScratchFile } from '../../lib/scratch-file.ts';
import type { RecordInput } from '../records/input.ts';
import { storedBytes } from '../records/stored-bytes.ts';
import { httpProblem } from './problems.ts';

/** A page in the spool. */
export interface SpooledPage {
  readonly bytes: number;
  readonly sha256: string;
  /** Position after the page in the spool. */
  readonly end: number;
  readonly input: RecordInput;
}

interface StoredPage {
  /** Position of the page in the file. */
  readonly start: number;
  /** Position after it. */
  readonly end: number;
  readonly sha256: string;
}

interface PageSpoolOptions {
  /** Maximum total size of all pages, in bytes. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** File name; default: `answers.spool`. */
  readonly name?: string;
}

/** Stores all of a run's pages in one file in its private folder, which is created with the first page. */
export class PageSpool {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #signal: AbortSignal;
  #file: FileHandle | undefined;
  #end = 0;
  #pages = 0;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(folder: string, { maxBytes, signal, name = 'answers.spool' }: PageSpoolOptions) {
    this.#path = join(folder, name);
    this.#maxBytes = maxBytes;
    this.#signal = signal;
  }

  /**
   * Writes a complete page. If writing fails partway, the next page overwrites the incomplete one. Pages that are added
   * at the same time are written one after another.
   */
  add(body: AsyncIterable<Buffer>): Promise<SpooledPage> {
    const writing = this.#writing.then(() => this.#write(body));
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  async #write(body: AsyncIterable<Buffer>): Promise<SpooledPage> {
    const start = this.#end;
    const hash = createHash('sha256');
    this.#file ??= await openScratchFile(this.#path);
    let at = start;
    for await (const chunk of body) {
      if (at + chunk.length > this.#maxBytes) throw tooLarge(this.#maxBytes);
      hash.update(chunk);
      for (let written = 0; written < chunk.length; ) {
        const { bytesWritten } = await this.#file.write(chunk, written, chunk.length - written, at + written);
        written += bytesWritten;
      }
      at += chunk.length;
    }
    this.#end = at;
    return this.#page({ start, end: at, sha256: hash.digest('hex') });
  }

  /** Drops a page. If it's the last one, the next one overwrites it. */
  takeBack({ bytes, end }: SpooledPage): void {
    if (end === this.#end) this.#end -= bytes;
    this.#pages -= 1;
  }

  /** Drops all pages, so that the next one overwrites the first. */
  clear(): void {
    this.#end = 0;
    this.#pages = 0;
  }

  /** Moves the file of an earlier attempt here. Call {@link resume} then. */
  async moveFrom(folder: string): Promise<void> {
    await rename(join(folder, basename(this.#path)), this.#path);
  }

  /** Continues the file behind the pages of an earlier attempt. */
  async resume(end: number): Promise<void> {
    this.#file = await open(this.#path, 'r+');
    this.#end = end;
  }

  /** Closes the file and moves it to another folder. After this call, no pages can be read. */
  async moveTo(folder: string): Promise<void> {
    await this.close();
    await rename(this.#path, join(folder, basename(this.#path)));
  }

  /** A page that an earlier attempt wrote; undefined if the file contains something else there. */
  async find({ start, end, sha256 }: StoredPage): Promise<SpooledPage | undefined> {
    const hash = createHash('sha256');
    for await (const chunk of this.#read(start, end)) hash.update(chunk);
    return hash.digest('hex') === sha256 ? this.#page({ start, end, sha256 }) : undefined;
  }

  #page({ start, end, sha256 }: StoredPage): SpooledPage {
    this.#pages += 1;
    const input = { name: `page ${this.#pages} of the response`, open: () => this.#read(start, end) };
    return { bytes: end - start, sha256, end, input };
  }

  /** Ends writing: no more pages can be added, but existing pages can still be read. */
  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  /** Removes the file if it exists. After this call, no pages can be read. */
  async remove(): Promise<void> {
    if (this.#file === undefined) return;
    await this.close();
    await rm(this.#path, { force: true });
  }

  async *#read(start: number, end: number): AsyncGenerator<Buffer> {
    if (start < end) yield* storedBytes(this.#path, { start, end: end - 1, signal: this.#signal });
  }
}

function tooLarge(maxBytes: number) {
  return httpProblem('REST_TOO_LARGE', 'job', `the response is larger than ${maxBytes} bytes`, {
    next: 'request less data, or raise `max_answer_bytes` in the source',
  });
}
