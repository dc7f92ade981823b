import type { Readable } from 'node:stream';

/** Writes one document piece by piece. It is invisible until {@link finish}. */
export interface BlobWriter {
  /** Resolves when the piece can be reused; applies backpressure if the disk is slower than the client. */
  write(piece: Buffer): Promise<void> | void;
  /** Syncs the document to disk and returns its name. */
  finish(): Promise<string>;
  /** Forgets it. Never throws. */
  abandon(): Promise<void>;
}

/** Where uploaded documents lie, each under a name of its own that is never used again. */
export interface Blobs {
  begin(): Promise<BlobWriter>;
  open(name: string): Promise<Readable>;
  /** Never throws: what could not be removed is swept at the next start. */
  remove(name: string): Promise<void>;
  /** Removes documents that no instance refers to, left behind by a crash. Returns how many. */
  sweep(known: ReadonlySet<string>): Promise<number>;
}
