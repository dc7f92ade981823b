import type { Readable } from 'node:stream';

/** Takes one document, piece by piece. Until {@link finish} nothing of it can be seen. */
export interface BlobWriter {
  /** Waits where the disk is slower than the client. The piece is the caller's again once this is done. */
  write(piece: Buffer): Promise<void> | void;
  /** Makes the document safe on the disk and gives its name. */
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
