/** Deeper documents are refused, so that what is remembered of open elements stays small. */
export const maxDepth = 1000;

/** Of all names together, which is far more than data needs. */
const maxNameBytes = 64 * 1024;

/**
 * The names of the elements that are open. Those of the bytes at hand are only pointed at; {@link keep} copies what is
 * still open before the bytes go.
 */
export class OpenElements {
  depth = 0;
  readonly #starts = new Int32Array(maxDepth + 1);
  readonly #ends = new Int32Array(maxDepth + 1);
  readonly #kept = Buffer.allocUnsafeSlow(maxNameBytes);
  /** So many elements, the outer ones, have their names among the kept bytes. */
  #keptDepth = 0;
  #nameBytes = 0;

  get hasRoom(): boolean {
    return this.depth < maxDepth;
  }

  /** Opens one whose name stands between these offsets. False where there is no room for it. */
  push(start: number, end: number): boolean {
    if (this.depth === maxDepth || this.#nameBytes + end - start > maxNameBytes) return false;
    this.#starts[this.depth] = start;
    this.#ends[this.depth++] = end;
    this.#nameBytes += end - start;
    return true;
  }

  /** Where the name of the innermost ends if it stands in the bytes at `at`, else -1. */
  innermostEnd(bytes: Buffer, at: number): number {
    const top = this.depth - 1;
    const end = this.#ends[top]!;
    const source = top < this.#keptDepth ? this.#kept : bytes;
    let p = at;
    for (let q = this.#starts[top]!; q < end; q++) if (source[q] !== bytes[p++]) return -1;
    return p;
  }

  /** Closes the innermost. */
  pop(): void {
    const top = --this.depth;
    this.#nameBytes -= this.#ends[top]! - this.#starts[top]!;
    if (top < this.#keptDepth) this.#keptDepth = top;
  }

  /** To be called before the bytes go that the names stand in. */
  keep(bytes: Buffer): void {
    let to = this.#keptDepth === 0 ? 0 : this.#ends[this.#keptDepth - 1]!;
    for (; this.#keptDepth < this.depth; this.#keptDepth++) {
      const [start, end] = [this.#starts[this.#keptDepth]!, this.#ends[this.#keptDepth]!];
      this.#starts[this.#keptDepth] = to;
      to += bytes.copy(this.#kept, to, start, end);
      this.#ends[this.#keptDepth] = to;
    }
  }

  /** Their start tags, outermost first, once the names were kept. */
  startTags(): string {
    const names = Array.from({ length: this.depth }, (_, k) =>
      this.#kept.toString('utf8', this.#starts[k], this.#ends[k]),
    );
    return names.map((name) => `<${name}>`).join('');
  }
}
