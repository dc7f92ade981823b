/** This much is added to a token that is cut, to get past its end. */
const joinBytes = 1024;

/** The bytes of a document that a scanner needs more behind: kept until enough have come to scan them again. */
export class HeldBytes {
  #chunks: Buffer[] = [];
  length = 0;
  /** They are scanned again at this length, so that many small chunks cost no more than a large one. */
  scanAt = 0;

  /** Keeps a copy for later. */
  add(bytes: Buffer): void {
    if (bytes.length > 0) this.#chunks.push(Buffer.from(bytes));
    this.length += bytes.length;
  }

  /** All of them as one piece; nothing is held any more. */
  take(): Buffer {
    const piece = Buffer.concat(this.#chunks);
    this.clear();
    return piece;
  }

  clear(): void {
    this.#chunks = [];
    this.length = 0;
  }

  /** Holds what was not read of a piece; at most `maxBytes` come together before it is scanned again. */
  keep(bytes: Buffer, maxBytes = Number.POSITIVE_INFINITY): void {
    this.add(bytes);
    this.scanAt = Math.min(maxBytes, Math.max(joinBytes, 2 * this.length));
  }
}
