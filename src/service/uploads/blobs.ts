import type { Readable } from 'node:stream';

/** Writes one document in chunks. The document is invisible until {@link finish} is called. */
export interface BlobWriter {
  /**
   * Resolves when the chunk's buffer can be reused. If the client is faster than the disk, this slows the client down
   * (backpressure).
   */
  write(piece: Buffer): Promise<void> | void;
  /** Syncs the document to disk. Returns the document's name. */
  finish(): Promise<string>;
  /** Discards the document. Never throws. */
  abandon(): Promise<void>;
}

/** Stores uploaded documents. Each document has a unique name that is never reused. */
export interface Blobs {
  begin(): Promise<BlobWriter>;
  open(name: string): Promise<Readable>;
  /** Removes a document. Never throws: if a document can't be removed, the sweep at the next start removes it. */
  remove(name: string): Promise<void>;
  /**
   * Removes documents that no instance refers to, which a crash may have left behind. Returns the number of removed
   * documents.
   */
  sweep(known: ReadonlySet<string>): Promise<number>;
}
