/** Pieces handed on are at least this large (but for the last): small chunks cost more than encoding does. */
const pieceBytes = 256 * 1024;

/**
 * Where an encoder writes. The encoder calls {@link reserve} before it writes at most that many bytes into `buffer` at
 * `position` and moves `position` on. Full pieces collect until the pipeline takes them between two batches, so what
 * is held is bounded by one batch.
 */
export class Output {
  buffer: Buffer = Buffer.allocUnsafeSlow(pieceBytes * 2);
  position = 0;
  #full: Buffer[] = [];
  readonly #spare: Buffer[] = [];

  /** Makes room for `bytes` more bytes at `position`. May swap `buffer`. */
  reserve(bytes: number): void {
    if (this.position + bytes <= this.buffer.length) return;
    this.#cut();
    if (bytes > this.buffer.length) this.buffer = Buffer.allocUnsafeSlow(bytes);
  }

  /** Writes text as UTF-8; lone surrogates become U+FFFD. For headers and other small things, not for cells. */
  text(text: string): void {
    this.reserve(text.length * 3);
    this.position += this.buffer.write(text, this.position, 'utf8');
  }

  /** The pieces that are full, oldest first; with `all` also the one being written. Give them back with {@link recycle}. */
  take(all: boolean): Buffer[] {
    if (this.position >= pieceBytes || (all && this.position > 0)) this.#cut();
    const pieces = this.#full;
    this.#full = [];
    return pieces;
  }

  /** Returns a piece that has been written out, so that its memory is used again and peak memory stays flat. */
  recycle(piece: Buffer): void {
    if (piece.buffer.byteLength === pieceBytes * 2 && this.#spare.length < 4)
      this.#spare.push(Buffer.from(piece.buffer));
  }

  #cut(): void {
    if (this.position > 0) this.#full.push(this.buffer.subarray(0, this.position));
    this.buffer = this.#spare.pop() ?? Buffer.allocUnsafeSlow(pieceBytes * 2);
    this.position = 0;
  }
}
