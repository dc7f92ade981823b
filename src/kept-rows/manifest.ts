import type { Column } from '../sdk/column.ts';

export interface KeptColumn extends Column {
  /** False until a row has a value in this column; its type is unknown until then. */
  readonly seen: boolean;
}

/** A half-open range of a column's values, in canonical text: from `from` up to, but not including, `to`. */
export interface ColumnRange {
  readonly column: string;
  readonly from: string;
  readonly to: string;
}

/** An immutable file of rows in key order; several generations may share it. */
export interface Segment {
  /** Relative to the folder of all kept rows: `RUN/NUMBER.rows`. */
  readonly file: string;
  /** Number of records, including deletion markers. */
  readonly rows: number;
  readonly bytes: number;
  /** CRC-32 of its bytes. */
  readonly crc: number;
  /** Start of its extract, epoch milliseconds. Of two rows with the same key, the later row wins. */
  readonly asOf: number;
  /** Replaces all rows of earlier segments in this range. */
  readonly replaces?: ColumnRange;
}

/** Backfilled ranges that aren't part of a generation yet. */
export interface StagedRanges {
  /** Identifies one backfill. */
  readonly id: string;
  /** Columns of its records. */
  readonly columns: readonly KeptColumn[];
  readonly next: number;
  readonly segments: readonly Segment[];
}

/** A generation of kept rows: the list of its segments. A row in the store makes it current. */
export interface Manifest {
  readonly version: 1;
  readonly columns: readonly KeptColumn[];
  /** Number of the next appended row. */
  readonly next: number;
  /** Rows after the merge. */
  readonly rows: number;
  /** The oldest retained value, if values can be compared; until it expires, retention removes nothing. */
  readonly oldest?: string;
  /** ID of the staged ranges that this generation includes. */
  readonly filled?: string;
  /** Oldest first. */
  readonly segments: readonly Segment[];
}

/** Bytes of a generation on disk. */
export function bytesOf({ segments }: Pick<Manifest, 'segments'>): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0);
}
