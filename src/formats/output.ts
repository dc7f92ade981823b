import { isUtf8 } from 'node:buffer';
import { Problem } from '../lib/problem.ts';
import { excerptOfBytes } from '../lib/redact.ts';
import { characterEnd, validPrefix } from '../lib/utf8.ts';

/** Minimum size of a chunk, except the last one. Handling smaller chunks would take longer than encoding them. */
const pieceBytes = 256 * 1024;

/**
 * Maximum size of one {@link Output.reserve}. It ensures that every chunk has at least `pieceBytes` and that all
 * buffers except the first have the same size.
 */
export const maxReservedBytes = pieceBytes;

/** Size of all buffers except the first. */
const bufferBytes = pieceBytes * 2;

/** Size of the first buffer. It's small, because most payloads are, and a daemon encodes thousands of them. */
const firstBufferBytes = 16 * 1024;

/**
 * The output of an encoder. The encoder calls {@link reserve}, then writes at most that many bytes into `buffer` at
 * `position` and advances `position`. Full chunks accumulate until the pipeline takes them between batches, so memory
 * is bounded by one batch.
 *
 * Every chunk is validated as UTF-8 when it's complete, so an encoder must only write complete characters between two
 * calls of `reserve`. The validation runs at several GB/s and ensures that no bytes are sent that a source wrongly
 * declared as UTF-8.
 */
export class Output {
  buffer: Buffer = Buffer.allocUnsafeSlow(firstBufferBytes);
  position = 0;
  #full: Buffer[] = [];
  readonly #spare: Buffer[] = [];

  /** Makes room at `position` for `bytes` more bytes (at most {@link maxReservedBytes}). May replace `buffer`. */
  reserve(bytes: number): void {
    if (this.position + bytes <= this.buffer.length) return;
    if (this.buffer.length < bufferBytes) this.#enlarge();
    else this.#cut();
  }

  /** Writes text as UTF-8; lone surrogates become U+FFFD. For headers and other short strings, not for cells. */
  text(text: string): void {
    this.bytes(Buffer.from(text, 'utf8'));
  }

  /** Writes complete UTF-8 characters of any length, unchanged. */
  bytes(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; ) {
      const end = characterEnd(bytes, start, Math.min(start + maxReservedBytes, bytes.length), bytes.length);
      this.reserve(end - start);
      this.buffer.set(bytes.subarray(start, end), this.position);
      this.position += end - start;
      start = end;
    }
  }

  /**
   * Takes the full chunks, oldest first, and with `all` also the current one. Return them with {@link recycle}. Throws
   * `FORMAT_UTF8` if the source's bytes weren't UTF-8.
   */
  take(all: boolean): Buffer[] {
    if (this.position >= pieceBytes || (all && this.position > 0)) this.#cut(all ? nothing : undefined);
    const pieces = this.#full;
    this.#full = [];
    return pieces;
  }

  /** Returns a written chunk for reuse, so that peak memory stays constant. */
  recycle(piece: Buffer): void {
    if (piece.buffer.byteLength === bufferBytes && this.#spare.length < 4) this.#spare.push(Buffer.from(piece.buffer));
  }

  /** Replaces the small first buffer with a large one. */
  #enlarge(): void {
    const larger = this.#spare.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);
    this.buffer.copy(larger, 0, 0, this.position);
    this.buffer = larger;
  }

  /** `next`: the new buffer, a large one by default. */
  #cut(next?: Buffer): void {
    if (this.position > 0) this.#full.push(checked(this.buffer.subarray(0, this.position)));
    this.buffer = next ?? this.#spare.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);
    this.position = 0;
  }
}

/** The buffer to continue with after the last chunk. It's empty, because usually nothing follows. */
const nothing = Buffer.alloc(0);

function checked(piece: Buffer): Buffer {
  if (isUtf8(piece)) return piece;
  throw new Problem({
    code: 'FORMAT_UTF8',
    family: 'job',
    message: 'The source returned text that is not valid UTF-8',
    seen: excerpt(piece),
    next: 'set the encoding of the connection or file, or cast the column in the query',
  });
}

/** The first invalid bytes as hex, with the readable text that precedes them. */
function excerpt(piece: Buffer): string {
  const good = validPrefix(piece);
  return `${excerptOfBytes(piece.subarray(0, good), good - 16, good).replace(/[^ -~]/g, '.')} followed by the bytes ${piece.toString('hex', good, good + 4)}`;
}
