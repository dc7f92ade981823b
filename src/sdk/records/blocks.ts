import { faultIn, type RecordInput } from './input.ts';

/** Small chunks are gathered up to this size: a scanner has a price per block, not per byte. */
const defaultBytes = 256 * 1024;
/** One record may be this large; beyond, a quote or bracket was never closed, or memory would not stay flat. */
const recordBytes = 64 * 1024 * 1024;

/**
 * Chunks as blocks that a scanner eats from the front. What it leaves (a record that is not complete yet) stands at the
 * front of the next block. A block's memory is never used again, so cells may point into it.
 */
export class Blocks {
  bytes: Buffer = Buffer.alloc(0);
  /** No more bytes will come after those in `bytes`. */
  last = false;
  /** Bytes of the input before the block's first. */
  offset = 0;
  readonly #input: RecordInput;
  readonly #chunks: AsyncIterator<Uint8Array>;

  readonly #size: number;

  constructor(input: RecordInput, chunks: AsyncIterable<Uint8Array>, size = defaultBytes) {
    this.#input = input;
    this.#size = size;
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /**
   * Drops the first `eaten` bytes and adds new ones behind the rest. When nothing could be eaten the block doubles, so
   * that a record of n bytes costs no more than 2n to scan. False when the input had ended before.
   */
  async refill(eaten: number): Promise<boolean> {
    if (this.last) return false;
    const rest = this.bytes.subarray(eaten);
    if (rest.length > recordBytes) throw tooLarge(this.#input);
    this.offset += eaten;
    const parts: Uint8Array[] = [rest];
    const wanted = Math.max(this.#size, rest.length * 2);
    for (let size = rest.length; size < wanted && !this.last; size += parts.at(-1)!.length) {
      const next = await this.#chunks.next();
      if (next.done) this.last = true;
      parts.push(next.done ? Buffer.alloc(0) : next.value);
    }
    this.bytes = Buffer.concat(parts);
    return true;
  }

  /** Lets go of the input, also when it was not read to its end. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

function tooLarge(input: RecordInput) {
  return faultIn(input, {
    code: 'RECORDS_TOO_LARGE',
    message: `one record is larger than ${recordBytes / 1024 / 1024} MB`,
    next: 'look for a quote or bracket that is never closed, or name the path of the records with `records`',
  });
}
