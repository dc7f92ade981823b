import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Blobs are read and written in pieces of this size, so that memory doesn't depend on their size. */
export const pieceBytes = 1024 * 1024;

/** One blob in a storage. */
export interface BlobRef {
  /** Path of the file, relative to the state folder. */
  readonly name: string;
  readonly bytes: number;
  /** A connection or transaction of the state's database. */
  readonly db: Kysely<Tables>;
}

/** Stores the bytes of blobs, for all machines that share a state. Which blobs exist is in the state's database. */
export interface BlobStorage {
  /** Whether the bytes are in the state's database, so that a transaction includes them. */
  readonly isInDatabase: boolean;
  /** Writes a blob, replacing an earlier one. The bytes survive a power loss when the promise is fulfilled. */
  write(blob: BlobRef, pieces: AsyncIterable<Buffer>): Promise<void>;
  /** Reads a blob. Yields nothing if the storage doesn't have it. */
  read(blob: BlobRef): AsyncIterable<Buffer>;
  /** Removes a blob, or what was written of it. Does nothing if there's nothing. */
  remove(blob: Omit<BlobRef, 'bytes'>): Promise<void>;
}

/** A storage, and the database that lists its blobs, on connections that don't take the state's lock. */
export interface BlobBackend {
  readonly storage: BlobStorage;
  readonly db: Kysely<Tables>;
}
