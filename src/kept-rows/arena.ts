import { compareKeys, compareVersions, keyPrefix, sizeAt } from './record.ts';
import type { RecordSource } from './record-source.ts';

const firstBytes = 64 * 1024;

/** Records in memory, first in arrival order, then sorted by key. */
export class Arena {
  buffer = Buffer.allocUnsafeSlow(firstBytes);
  used = 0;
  readonly #maxBytes: number;
  #starts = new Uint32Array(1024);
  /** Reused by each sort. */
  #order = new Uint32Array(0);
  #prefixes = new Float64Array(0);
  #count = 0;

  /**
   * With `maxBytes`, the buffer grows to that size in one step, because untouched pages use no memory, but a replaced
   * buffer does until it's garbage-collected. Beyond that size, the buffer grows only as needed. Without `maxBytes`,
   * its size doubles each time.
   */
  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
  }

  get count(): number {
    return this.#count;
  }

  /** Makes room for `bytes` more bytes; may replace `buffer`. */
  reserve(bytes: number): void {
    const needed = this.used + bytes;
    if (needed <= this.buffer.length) return;
    const next = Number.isFinite(this.#maxBytes) ? this.#maxBytes : 2 * this.buffer.length;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, next));
    this.buffer.copy(larger, 0, 0, this.used);
    this.buffer = larger;
  }

  /** Call this after writing a record of this size at `used`. */
  added(bytes: number): void {
    if (this.#count === this.#starts.length) {
      const larger = new Uint32Array(2 * this.#count);
      larger.set(this.#starts);
      this.#starts = larger;
    }
    this.#starts[this.#count++] = this.used;
    this.used += bytes;
  }

  clear(): void {
    this.used = 0;
    this.#count = 0;
  }

  /**
   * Start offsets of the records in key order; among records with the same key, only the last one with the highest
   * version is included. Valid until the next sort.
   */
  sorted(): Uint32Array {
    const starts = this.#starts;
    const [a, b] = [
      { buffer: this.buffer, start: 0 },
      { buffer: this.buffer, start: 0 },
    ];
    this.#readPrefixes();
    const prefixes = this.#prefixes;
    // Compares prefixes first, because most keys differ in their first bytes.
    const compare = (left: number, right: number): number => {
      const rough = prefixes[left]! - prefixes[right]!;
      if (rough !== 0) return rough;
      a.start = starts[left]!;
      b.start = starts[right]!;
      return compareKeys(a, b);
    };
    const order = this.#order.subarray(0, this.#count);
    let isSorted = true;
    for (let i = 0; i < order.length; i++) {
      order[i] = i;
      isSorted &&= i === 0 || compare(i - 1, i) <= 0;
    }
    if (!isSorted) order.sort((left, right) => compare(left, right) || left - right);
    let kept = 0;
    for (const i of order) {
      const isSame = kept > 0 && compare(order[kept - 1]!, i) === 0;
      if (!isSame) order[kept++] = i;
      else if (compareVersions(a, b) <= 0) order[kept - 1] = i;
    }
    for (let i = 0; i < kept; i++) order[i] = starts[order[i]!]!;
    return order.subarray(0, kept);
  }

  #readPrefixes(): void {
    if (this.#order.length < this.#count) {
      this.#order = new Uint32Array(this.#starts.length);
      this.#prefixes = new Float64Array(this.#starts.length);
    }
    const spot = { buffer: this.buffer, start: 0 };
    for (let i = 0; i < this.#count; i++) {
      spot.start = this.#starts[i]!;
      this.#prefixes[i] = keyPrefix(spot);
    }
  }
}

/** The sorted records of an arena. */
export class ArenaSource implements RecordSource {
  readonly rank: number;
  readonly buffer: Buffer;
  readonly #order: Uint32Array;
  #at = -1;
  start = 0;
  prefix = 0;

  constructor(arena: Arena, rank: number) {
    this.rank = rank;
    this.buffer = arena.buffer;
    this.#order = arena.sorted();
  }

  /** Number of records. */
  get length(): number {
    return this.#order.length;
  }

  next(): boolean {
    if (this.#at + 1 >= this.#order.length) return false;
    this.#at += 1;
    this.start = this.#order[this.#at]!;
    this.prefix = keyPrefix(this);
    return true;
  }

  async fill(): Promise<boolean> {
    return this.#at < 0 && this.next();
  }

  /** Yields the remaining records, one by one. */
  *records(): Generator<{ readonly start: number; readonly bytes: number }> {
    for (const start of this.#order) yield { start, bytes: sizeAt(this.buffer, start) };
  }

  async close(): Promise<void> {}
}
