import type { Kysely } from 'kysely';
import type { WriteHealth } from '../engine/write-health.ts';
import type { Tables } from '../tables.ts';

/** Blobs are read and written in pieces of this size, so that memory doesn't depend on their size. */
export const pieceBytes = 1024 * 1024;

/** One blob in a storage. */
export interface BlobRef {
  /** Path of the file, relative to the state folder. */
  readonly name: string;
  readonly bytes: number;
  /** When the blob was stored, in epoch milliseconds. Blobs that have the same name one after another differ in it. */
  readonly storedAt: number;
  /** A connection or transaction of the state's database. */
  readonly db: Kysely<Tables>;
}

/** A blob that is to be removed. */
export type BlobRemains = Omit<BlobRef, 'bytes'>;

/** Stores the bytes of blobs, for all machines that share a state. Which blobs exist is in the state's database. */
export interface BlobStorage {
  /** Where the storage is, for users. */
  readonly label: string;
  /** The kind of place where the storage is, which is recorded in the state. */
  readonly place: 'the database' | 'a folder' | 'a bucket';
  /** Whether the bytes are in the state's database, so that a transaction includes them. */
  readonly isInDatabase: boolean;
  /**
   * Writes a blob, replacing an earlier one. `pieces` returns its bytes from the first one, each time it's called. A
   * piece is valid until the next one is read. The bytes survive a power loss when the promise is fulfilled.
   */
  write(blob: BlobRef, pieces: () => AsyncIterable<Buffer>): Promise<void>;
  /** Reads a blob. Yields nothing if the storage doesn't have it. */
  read(blob: BlobRef): AsyncIterable<Buffer>;
  /** Removes a blob, or what was written of it. Does nothing if there's nothing. */
  remove(blob: BlobRemains): Promise<void>;
  /** Access to the part of the storage that belongs to one state. Absent for the database, which is that part. */
  readonly claims?: StorageClaims;
  /** Ends all transfers in progress. From then on, transfers fail at once. */
  close?(): Promise<void>;
}

/** Each state that uses a storage has a part of its own there, with a marker in it. */
export interface StorageClaims {
  /** Creates this state's part unless it exists. */
  claim(db: Kysely<Tables>): Promise<void>;
  /** Returns whether this state's part exists. If it doesn't, this isn't the storage that the state used before. */
  isClaimed(db: Kysely<Tables>): Promise<boolean>;
  /** Removes this state's part, with everything in it. */
  unclaim(db: Kysely<Tables>): Promise<void>;
}

/** A storage, and the database that lists its blobs, on connections that don't take the state's lock. */
export interface BlobBackend {
  readonly storage: BlobStorage;
  readonly db: Kysely<Tables>;
  /** Whether a storage outside of the database works. */
  readonly health: WriteHealth;
}

/** The content of an empty blob. */
export async function* nothing(): AsyncGenerator<Buffer> {
  yield* [];
}
