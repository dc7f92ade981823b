import { faultIn, type RecordInput } from './input.ts';

/** Minimum block size, because scanners have a fixed cost per block. */
const defaultBytes = 256 * 1024;
/** Maximum size of a record. A larger record either lacks a closing quote or bracket or would use too much memory. */
const recordBytes = 64 * 1024 * 1024;

/**
 * Joins chunks into blocks for a scanner. An incomplete record at the end of a block moves to the start of the next
 * block. A block's memory is never reused, so cells may refer to it.
 */
export class Blocks {
  bytes: Buffer = Buffer.alloc(0);
  /** Whether the input ends with `bytes`. */
  last = false;
  /** Number of input bytes before the block. */
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
   * Drops the first `eaten` bytes and appends new ones. If `eaten` is 0, the block doubles in size, so that at most 2n
   * bytes are scanned for a record of n bytes. Returns false if the input had already ended.
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

  /** Closes the input, even before it ends. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

function tooLarge(input: RecordInput) {
  return faultIn(input, {
    code: 'RECORDS_TOO_LARGE',
    message: `one record is larger than ${recordBytes / 1024 / 1024} MB`,
    next: 'check for a missing closing quote or bracket, or set `records` to the path of the records',
  });
}

/** Whether a byte of UTF-8 is a line feed or a carriage return. */
export function isLineBreak(byte: number | undefined): boolean {
  return byte === 10 || byte === 13;
}

/** The start of the line (ended by `\n`, `\r\n` or `\r`) after the one at `from`; -1 if the bytes don't include it. */
export function lineEnd(bytes: Buffer, from: number, last: boolean): number {
  for (let i = from; i < bytes.length; i++) {
    if (bytes[i] === 10) return i + 1;
    if (bytes[i] !== 13) continue;
    if (i + 1 < bytes.length) return bytes[i + 1] === 10 ? i + 2 : i + 1;
    if (last) return i + 1;
    return -1;
  }
  return last ? bytes.length : -1;
}
