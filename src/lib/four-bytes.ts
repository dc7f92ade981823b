/**
 * Looking for bytes in four at once, read as a little-endian integer. Subtracting borrows from the top bit of a byte
 * that is smaller, so a top bit turns up in each byte looked for. A borrow may spoil the bytes above it, never those
 * below: only the first of what was found is sure.
 */
export const topBits = 0x80808080 | 0;

/** Top bits where the byte is the one that `pattern` repeats four times. */
export function equal(four: number, pattern: number): number {
  const different = four ^ pattern;
  return (different - 0x01010101) & ~different;
}

/** Whether so many bytes are the same at two places that all of them are there. */
export function same(view: DataView, a: number, b: number, length: number): boolean {
  const last = length - 4;
  for (let k = 0; k < last; k += 4) if (view.getInt32(a + k, true) !== view.getInt32(b + k, true)) return false;
  // The last four overlap with those before.
  if (last >= 0) return view.getInt32(a + last, true) === view.getInt32(b + last, true);
  for (let k = 0; k < length; k++) if (view.getUint8(a + k) !== view.getUint8(b + k)) return false;
  return true;
}

/** Which byte is the first that was found: 0 to 3. */
export function first(found: number): number {
  return (31 - Math.clz32(found & -found)) >> 3;
}
