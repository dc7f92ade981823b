/** Minimum number of bytes to wait for when a token was split. */
const joinBytes = 1024;

/** Bytes of a document that a scanner can't process yet. They're held until there are enough to scan them again. */
export class HeldBytes {
  #chunks: Buffer[] = [];
  length = 0;
  /**
   * The held bytes are scanned again when they reach this length, so that many small chunks take no longer than one
   * large chunk.
   */
  scanAt = 0;

  /** Stores a copy. */
  add(bytes: Buffer): void {
    if (bytes.length > 0) this.#chunks.push(Buffer.from(bytes));
    this.length += bytes.length;
  }

  /** Returns all held bytes as one piece, and releases them. */
  take(): Buffer {
    const piece = Buffer.concat(this.#chunks);
    this.clear();
    return piece;
  }

  clear(): void {
    this.#chunks = [];
    this.length = 0;
  }

  /** Holds the unread part of a piece, which is scanned again when `maxBytes` bytes are held, or earlier. */
  keep(bytes: Buffer, maxBytes = Number.POSITIVE_INFINITY): void {
    this.add(bytes);
    this.scanAt = Math.min(maxBytes, Math.max(joinBytes, 2 * this.length));
  }
}
