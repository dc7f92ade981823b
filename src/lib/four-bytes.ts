/**
 * Searches four bytes at once, as a little-endian integer (SWAR). The subtraction borrows from a smaller byte's top
 * bit, which marks each matching byte. A borrow may affect higher bytes, but never lower ones, so only the first match
 * is reliable.
 */
export const topBits = 0x80808080 | 0;

/** Sets the top bit of each byte that equals the byte repeated in `pattern`. */
export function equal(four: number, pattern: number): number {
  const different = four ^ pattern;
  return (different - 0x01010101) & ~different;
}

/** Whether `length` bytes are equal at two positions; both must be in range. */
export function same(view: DataView, a: number, b: number, length: number): boolean {
  const last = length - 4;
  for (let k = 0; k < last; k += 4) if (view.getInt32(a + k, true) !== view.getInt32(b + k, true)) return false;
  // Compare the last four bytes, which may overlap with the previous ones.
  if (last >= 0) return view.getInt32(a + last, true) === view.getInt32(b + last, true);
  for (let k = 0; k < length; k++) if (view.getUint8(a + k) !== view.getUint8(b + k)) return false;
  return true;
}

/** Index of the first matching byte: 0 to 3. */
export function first(found: number): number {
  return (31 - Math.clz32(found & -found)) >> 3;
}
