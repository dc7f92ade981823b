import { characterEnd } from '../lib/utf8.ts';
import type { EscapeSet } from './copy-unescaped.ts';
import { maxReservedBytes, type Output } from './output.ts';

/** Escaping turns one byte into at most this many bytes. JSON's `\u0000` is the longest escape. */
export const maxGrowth = 6;
/** Cells up to this size are written in one step; larger ones are written in slices of this size. */
export const sliceBytes = Math.floor(maxReservedBytes / maxGrowth) - 64;

/**
 * Copies the bytes `start..end` of `from` into `to` at `at`, escaping them, and returns the end position in `to`. The
 * caller must have reserved the space.
 */
export type Escape = (to: Buffer, at: number, from: Buffer, start: number, end: number) => number;

/** Writes cells of one kind in one format. */
export interface CellWriter {
  /** Writes a cell of at most {@link sliceBytes}; may write up to {@link maxGrowth} times its size plus 16 bytes. */
  readonly small: Escape;
  /** Cells that contain none of these bytes are copied unchanged. */
  readonly stops?: EscapeSet;
  /** Writes a cell of any size. */
  large(out: Output, from: Buffer, start: number, end: number): void;
}

/** Applies an escaping copy to a cell of any size, in slices that end between characters. */
export function writeSlices(copy: Escape, out: Output, from: Buffer, [start, end]: readonly [number, number]): void {
  for (let p = start; p < end; ) {
    const stop = characterEnd(from, p, Math.min(p + sliceBytes, end), end);
    out.reserve((stop - p) * maxGrowth + 16);
    out.position = copy(out.buffer, out.position, from, p, stop);
    p = stop;
  }
}

/**
 * A writer whose escape function treats each character independently, so that a large cell can be written in slices.
 */
export function cellWriter(small: Escape, stops?: EscapeSet): CellWriter {
  const large: CellWriter['large'] = (out, from, start, end) => writeSlices(small, out, from, [start, end]);
  return stops === undefined ? { small, large } : { small, large, stops };
}

/** Copies cells unchanged: numbers, times, and everything else that a format needn't escape. */
export const plain: CellWriter = cellWriter((to, at, from, start, end) => {
  if (end - start > 64) return at + from.copy(to, at, start, end);
  while (start < end) to[at++] = from[start++]!;
  return at;
});
