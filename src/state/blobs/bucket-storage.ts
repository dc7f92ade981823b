import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { bucketText, type PayloadsBucket } from '../engine/state-database.ts';
import type { Tables } from '../tables.ts';
import { type BlobRef, type BlobRemains, type BlobStorage, nothing, type StorageClaims } from './blob-storage.ts';
import { type S3Body, S3Client } from './s3-client.ts';
import { foreignBucket, tooLarge } from './s3-problems.ts';
import { type FindStateId, idName } from './state-id.ts';

/** The largest object that one request can write, in AWS and in most other stores. */
const maxObjectBytes = 5 * 1024 ** 3;

/**
 * Stores blobs as objects in a bucket. The names of each state's objects begin with its ID. The time of storing is part
 * of a name, so a name is never used again: a deletion that arrives late can't delete a newer blob.
 */
export class BucketStorage implements BlobStorage {
  readonly label: string;
  readonly place = 'a bucket';
  readonly isInDatabase = false;
  readonly #bucket: PayloadsBucket;
  readonly #findId: FindStateId;
  readonly #client: S3Client;

  constructor(bucket: PayloadsBucket, findId: FindStateId) {
    this.label = bucketText(bucket);
    this.#bucket = bucket;
    this.#findId = findId;
    this.#client = new S3Client(bucket);
  }

  readonly claims: StorageClaims = {
    claim: async (db) => this.#client.put(await this.#keyOf(db, idName), await bodyOf(0, nothing)),
    isClaimed: async (db) => this.#client.has(await this.#keyOf(db, idName)),
    unclaim: async (db) => {
      const id = await this.#findId(db);
      if (id === undefined) return;
      for await (const key of this.#client.list(`${this.#bucket.prefix}${id}/`)) await this.#client.delete(key);
    },
  };

  /** Reads the blob twice: the server compares the bytes with a hash that it gets before them. */
  async write({ name, storedAt, bytes, db }: BlobRef, pieces: () => AsyncIterable<Buffer>): Promise<void> {
    if (bytes > maxObjectBytes) throw tooLarge(bytes, maxObjectBytes);
    await this.#client.put(await this.#keyOf(db, nameOf(name, storedAt)), await bodyOf(bytes, pieces));
  }

  async *read({ name, storedAt, db }: BlobRef): AsyncGenerator<Buffer> {
    let isThere = false;
    for await (const piece of this.#client.get(await this.#keyOf(db, nameOf(name, storedAt)))) {
      isThere = true;
      yield piece;
    }
    if (isThere) return;
    const marker = await this.#keyOf(db, idName);
    if (!(await this.#client.has(marker))) throw foreignBucket(this.#bucket, marker);
  }

  async remove({ name, storedAt, db }: BlobRemains): Promise<void> {
    await this.#client.delete(await this.#keyOf(db, nameOf(name, storedAt)));
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #keyOf(db: Kysely<Tables>, name: string): Promise<string> {
    return `${this.#bucket.prefix}${(await this.#findId(db)) ?? 'unknown'}/${name}`;
  }
}

const nameOf = (name: string, storedAt: number): string => `${name}.${storedAt}`;

async function bodyOf(bytes: number, pieces: () => AsyncIterable<Buffer>): Promise<S3Body> {
  const hash = createHash('sha256');
  for await (const piece of pieces()) hash.update(piece);
  return { bytes, pieces, sha256: hash.digest('hex') };
}
