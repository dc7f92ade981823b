import type { PathNode } from './json-paths.ts';

/** Rows of more columns are read without a template. */
const maxColumns = 256;

/** Where one row ended and the next began. */
interface BetweenRows {
  /** Behind the last value of a row. */
  readonly tail: number;
  /** Behind its brace. */
  readonly end: number;
  /** The brace of the next row. */
  readonly next: number;
}

/**
 * Row template: in a table all but the values is the same bytes in each row, so it only has to be compared. All offsets
 * are those of the block in hand.
 */
export class JsonRowTemplate {
  /** What is behind each column's value, up to the next value; the last leads to the first value of the next row. */
  readonly starts = new Int32Array(maxColumns);
  readonly lengths = new Int32Array(maxColumns);
  /** Line feeds in it. */
  readonly lines = new Int32Array(maxColumns);
  /** 0 if there is no template. */
  columns = 0;
  /** From the last value of a row to behind its brace. */
  braceLength = 0;
  braceLines = 0;

  /** Takes two rows for an example; the second has the keys of `children`, in that order; with none there is no template. */
  learn(bytes: Buffer, children: readonly PathNode[], { tail, end, next }: BetweenRows): void {
    this.columns = 0;
    if (children.length === 0 || children.length > maxColumns || children.some(({ leadLength }) => leadLength === 0))
      return;
    const { leadStart, leadLength } = children[0]!;
    const first = next + leadLength;
    if (bytes.compare(bytes, leadStart, leadStart + leadLength, next, first) !== 0) return;
    // Other values may be between two rows.
    if (bytes.subarray(end, next).some((byte) => byte > 32 && byte !== 44)) return;
    for (const [c, { leadStart, leadLength, leadLines }] of children.entries()) {
      if (c > 0) this.#set(c - 1, { start: leadStart, length: leadLength, lines: leadLines });
    }
    const lines = lineFeeds(bytes, tail, first);
    this.#set(children.length - 1, { start: tail, length: first - tail, lines });
    this.columns = children.length;
    this.braceLength = end - tail;
    this.braceLines = lineFeeds(bytes, tail, end);
  }

  #set(column: number, { start, length, lines }: { start: number; length: number; lines: number }): void {
    this.starts[column] = start;
    this.lengths[column] = length;
    this.lines[column] = lines;
  }
}

function lineFeeds(bytes: Buffer, start: number, end: number): number {
  return bytes.subarray(start, end).filter((byte) => byte === 10).length;
}
