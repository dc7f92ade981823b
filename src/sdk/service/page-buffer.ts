import { randomUUID } from 'node:crypto';
import { PageSpool, type SpooledPage } from '../http/page-spool.ts';
import { parseExact } from './exact-json.ts';
import type { PagePiece } from './page-series.ts';

interface PageBufferOptions {
  /** The run's private folder. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Buffers records until all pages of a request are read. The first chunk stays in memory, because most requests have
 * only one page; other chunks are written to a file.
 */
export class PageBuffer {
  readonly #spool: PageSpool;
  #first: PagePiece | undefined;
  #others: SpooledPage[] = [];

  constructor({ folder, signal }: PageBufferOptions) {
    const name = `held-${randomUUID()}.spool`;
    this.#spool = new PageSpool(folder, { maxBytes: Number.MAX_SAFE_INTEGER, signal, name });
  }

  async add(piece: PagePiece): Promise<void> {
    if (this.#first === undefined) this.#first = piece;
    else this.#others.push(await this.#spool.add(bytesOf(piece)));
  }

  /** Removes all chunks. */
  clear(): void {
    this.#first = undefined;
    this.#others = [];
    this.#spool.clear();
  }

  /** All chunks in order; each is released once it has been read. */
  async *read(): AsyncGenerator<PagePiece> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) yield first;
    for (const { input } of this.#others) {
      const bytes = Buffer.concat(await Array.fromAsync(input.open()));
      yield parseExact(bytes.toString('utf8')) as PagePiece;
    }
  }

  /** Removes the file. */
  remove(): Promise<void> {
    return this.#spool.remove();
  }
}

async function* bytesOf(piece: PagePiece): AsyncGenerator<Buffer> {
  yield Buffer.from(JSON.stringify(piece), 'utf8');
}
