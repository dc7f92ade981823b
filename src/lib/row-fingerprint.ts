import { createHash } from 'node:crypto';

/**
 * A hash of 16 bytes of a row's cells, so that a collision is practically impossible. The hash includes the length of
 * each cell, so that different cells never look like the same text.
 */
export function rowFingerprint(cells: readonly (string | null)[]): Buffer {
  const text = cells.map((cell) => (cell === null ? '-' : `${cell.length}:${cell}`)).join('');
  return createHash('sha256').update(text, 'utf16le').digest().subarray(0, 16);
}
