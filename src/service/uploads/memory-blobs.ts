import { Readable } from 'node:stream';
import { newId } from '../../lib/ids.ts';
import type { Blobs, BlobWriter } from './blobs.ts';

/**
 * Stores documents in memory, for a service without a data folder. The upload limit limits the size of each document.
 */
export class MemoryBlobs implements Blobs {
  readonly #documents = new Map<string, readonly Buffer[]>();

  async begin(): Promise<BlobWriter> {
    const pieces: Buffer[] = [];
    return {
      write: (piece) => {
        pieces.push(Buffer.from(piece));
      },
      finish: async () => {
        const name = newId();
        this.#documents.set(name, pieces);
        return name;
      },
      abandon: async () => {
        pieces.length = 0;
      },
    };
  }

  async open(name: string): Promise<Readable> {
    const pieces = this.#documents.get(name);
    if (pieces === undefined) throw new Error(`no document ${name}`);
    return Readable.from(pieces, { objectMode: false });
  }

  async remove(name: string): Promise<void> {
    this.#documents.delete(name);
  }

  async sweep(known: ReadonlySet<string>): Promise<number> {
    const orphans = [...this.#documents.keys()].filter((name) => !known.has(name));
    for (const name of orphans) this.#documents.delete(name);
    return orphans.length;
  }
}
