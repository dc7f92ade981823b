import type { PathNode } from './json-paths.ts';

/** Rows with more columns are read without a template. */
const maxColumns = 256;

/** Where one row ends and the next one starts. */
interface BetweenRows {
  /** Position after the last value of a row. */
  readonly tail: number;
  /** Position after the row's closing brace. */
  readonly end: number;
  /** Position of the next row's opening brace. */
  readonly next: number;
}

/**
 * A row template. In most tables, all rows have the same bytes between their values, so the scanner only has to compare
 * those bytes. All offsets refer to the current block.
 */
export class JsonRowTemplate {
  /**
   * The bytes between each column's value and the next; the last entry is the bytes before the first value of the next
   * row.
   */
  readonly starts = new Int32Array(maxColumns);
  readonly lengths = new Int32Array(maxColumns);
  /** Line feeds in those bytes. */
  readonly lines = new Int32Array(maxColumns);
  /** 0 if there's no template. */
  columns = 0;
  /** Number of bytes from a row's last value through its closing brace. */
  braceLength = 0;
  braceLines = 0;
  /** Number of bytes from a row's last value to the next row's opening brace. */
  rowOffset = 0;

  /**
   * Learns the template from two rows; the second row has the keys of `children`, in that order. If `children` is
   * empty, there is no template.
   */
  learn(bytes: Buffer, children: readonly PathNode[], { tail, end, next }: BetweenRows): void {
    this.columns = 0;
    if (children.length === 0 || children.length > maxColumns || children.some(({ leadLength }) => leadLength === 0))
      return;
    const { leadStart, leadLength } = children[0]!;
    const first = next + leadLength;
    if (bytes.compare(bytes, leadStart, leadStart + leadLength, next, first) !== 0) return;
    // If there are other values between the two rows, no template can be learned from them.
    if (bytes.subarray(end, next).some((byte) => byte > 32 && byte !== 44)) return;
    for (const [c, { leadStart, leadLength, leadLines }] of children.entries()) {
      if (c > 0) this.#set(c - 1, { start: leadStart, length: leadLength, lines: leadLines });
    }
    const lines = lineFeeds(bytes, tail, first);
    this.#set(children.length - 1, { start: tail, length: first - tail, lines });
    this.columns = children.length;
    this.braceLength = end - tail;
    this.rowOffset = next - tail;
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
