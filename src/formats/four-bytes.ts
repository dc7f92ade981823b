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

/** Top bits where the byte is below 0x20. */
export function control(four: number): number {
  return (four - 0x20202020) & ~four;
}

/** Which byte is the first that was found: 0 to 3. */
export function first(found: number): number {
  return (31 - Math.clz32(found & -found)) >> 3;
}
