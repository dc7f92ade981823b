import { isUtf8 } from 'node:buffer';
import { Problem } from '../lib/problem.ts';
import { excerptOfBytes } from '../lib/redact.ts';
import { characterEnd, validPrefix } from '../lib/utf8.ts';

/** Pieces handed on are at least this large (but for the last): small chunks cost more than encoding does. */
const pieceBytes = 256 * 1024;

/** The most that one {@link Output.reserve} may ask for. It keeps every piece at `pieceBytes` or more, and all of one size class. */
export const maxReservedBytes = pieceBytes;

/**
 * Where an encoder writes. The encoder calls {@link reserve} before it writes at most that many bytes into `buffer` at
 * `position` and moves `position` on. Full pieces collect until the pipeline takes them between two batches, so what
 * is held is bounded by one batch.
 *
 * Every piece is checked to be UTF-8 when it is cut, so an encoder must never cut inside a character (that is: write
 * whole characters between two calls of `reserve`). The check runs at several GB/s; it is what keeps bytes that a source
 * wrongly called UTF-8 from leaving silently.
 */
export class Output {
  buffer: Buffer = Buffer.allocUnsafeSlow(pieceBytes * 2);
  position = 0;
  #full: Buffer[] = [];
  readonly #spare: Buffer[] = [];

  /** Makes room for `bytes` (at most {@link maxReservedBytes}) more bytes at `position`. May swap `buffer`. */
  reserve(bytes: number): void {
    if (this.position + bytes > this.buffer.length) this.#cut();
  }

  /** Writes text as UTF-8; lone surrogates become U+FFFD. For headers and other small things, not for cells. */
  text(text: string): void {
    this.bytes(Buffer.from(text, 'utf8'));
  }

  /** Writes whole UTF-8 characters as they are, however many. */
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
   * The pieces that are full, oldest first; with `all` also the one being written. Give them back with {@link recycle}.
   * Throws `FORMAT_UTF8` when the source's bytes were not UTF-8.
   */
  take(all: boolean): Buffer[] {
    if (this.position >= pieceBytes || (all && this.position > 0)) this.#cut(all ? nothing : undefined);
    const pieces = this.#full;
    this.#full = [];
    return pieces;
  }

  /** Returns a piece that has been written out, so that its memory is used again and peak memory stays flat. */
  recycle(piece: Buffer): void {
    if (piece.buffer.byteLength === pieceBytes * 2 && this.#spare.length < 4)
      this.#spare.push(Buffer.from(piece.buffer));
  }

  /** `next`: what is written into from now on; a large one where nothing is said. */
  #cut(next?: Buffer): void {
    if (this.position > 0) this.#full.push(checked(this.buffer.subarray(0, this.position)));
    this.buffer = next ?? this.#spare.pop() ?? Buffer.allocUnsafeSlow(pieceBytes * 2);
    this.position = 0;
  }
}

/** After the last piece: most often nothing follows. */
const nothing = Buffer.alloc(0);

function checked(piece: Buffer): Buffer {
  if (isUtf8(piece)) return piece;
  throw new Problem({
    code: 'FORMAT_UTF8',
    family: 'job',
    message: 'The source delivered text that is not UTF-8',
    seen: excerpt(piece),
    next: 'set the encoding of the connection or the file, or cast the column in the query',
  });
}

/** The first wrong bytes, as hex, with the readable text before them. */
function excerpt(piece: Buffer): string {
  const good = validPrefix(piece);
  return `${excerptOfBytes(piece.subarray(0, good), good - 16, good).replace(/[^ -~]/g, '.')} followed by the bytes ${piece.toString('hex', good, good + 4)}`;
}
