import type { Readable } from 'node:stream';

/** Writes one document in chunks. It's invisible until {@link finish}. */
export interface BlobWriter {
  /** Resolves when the chunk's buffer can be reused. Applies backpressure if the disk is slower than the client. */
  write(piece: Buffer): Promise<void> | void;
  /** Syncs the document to disk and returns its name. */
  finish(): Promise<string>;
  /** Discards the document. Never throws. */
  abandon(): Promise<void>;
}

/** Storage for uploaded documents, each under a unique name that is never reused. */
export interface Blobs {
  begin(): Promise<BlobWriter>;
  open(name: string): Promise<Readable>;
  /** Never throws: a document that couldn't be removed is swept at the next start. */
  remove(name: string): Promise<void>;
  /** Removes documents that no instance refers to, left behind by a crash. Returns their number. */
  sweep(known: ReadonlySet<string>): Promise<number>;
}
