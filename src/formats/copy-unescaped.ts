import { equal, topBits } from '../lib/four-bytes.ts';

/** The bytes that a format must escape, in a form that allows checking four bytes at once. */
export interface EscapeSet {
  /** Every byte below this one must be escaped. The byte is repeated four times. */
  readonly below: number;
  /** Four more bytes to escape, each repeated four times. */
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  /** Bytes up to this one must be escaped at the start or end of a cell; -1 if there are none. */
  readonly edge: number;
}

const four = (byte: number): number => Math.imul(byte, 0x01010101);

/**
 * The set of all bytes below `below` (at most 0x80), one to four others and, at the start or end of a cell, the bytes
 * up to `edge`.
 */
export function escapeSet(below: number, others: readonly number[], edge = -1): EscapeSet {
  const [a, b = a, c = a, d = a] = others.map(four);
  return { below: four(below), a: a!, b: b!, c: c!, d: d!, edge };
}

/**
 * Copies the bytes `start..end` unchanged and returns their end in `to`. Returns -1 if one of them must be escaped, or
 * if there are too few to check four at once. In these cases, the caller may overwrite what was written.
 */
export function copyUnescaped(
  to: DataView,
  at: number,
  from: DataView,
  start: number,
  end: number,
  { below, a, b, c, d, edge }: EscapeSet,
): number {
  const last = end - 4;
  if (last < start || from.getUint8(start) <= edge || from.getUint8(end - 1) <= edge) return -1;
  for (let p = start; ; p += 4, at += 4) {
    // The last four bytes may overlap the previous four.
    if (p > last) {
      at += last - p;
      p = last;
    }
    const word = from.getInt32(p, true);
    const low = (word - below) & ~word;
    const others = equal(word, a) | equal(word, b) | equal(word, c) | equal(word, d);
    if (((low | others) & topBits) !== 0) return -1;
    to.setInt32(at, word, true);
    if (p === last) return at + 4;
  }
}
