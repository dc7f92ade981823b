import type { KeptColumn } from '../sdk/column.ts';

/** A half-open range of a column's values, in canonical text: from `from` up to, but not including, `to`. */
export interface ColumnRange {
  readonly column: string;
  readonly from: string;
  readonly to: string;
}

/** An immutable file of rows in key order. Several generations may share it. */
export interface Segment {
  /** Path relative to the folder of all kept rows: `RUN/ID-NUMBER.rows`. */
  readonly file: string;
  /** Number of records, including deletion markers. */
  readonly rows: number;
  readonly bytes: number;
  /** CRC-32 of the file's bytes. */
  readonly crc: number;
  /**
   * Start of the segment's extract in epoch milliseconds. Of two rows with the same key, the one with the later extract
   * wins.
   */
  readonly asOf: number;
  /** If set, the segment replaces all rows of earlier segments in this range. */
  readonly replaces?: ColumnRange;
}

/** Backfilled ranges that aren't part of a generation yet. */
export interface StagedRanges {
  /** Identifies one backfill. */
  readonly id: string;
  /** The columns of the ranges' records. */
  readonly columns: readonly KeptColumn[];
  readonly next: number;
  readonly segments: readonly Segment[];
}

/** A generation of kept rows: the list of its segments. A row in the store makes the generation current. */
export interface Manifest {
  readonly version: 1;
  readonly columns: readonly KeptColumn[];
  /** Number of the next row to be appended. */
  readonly next: number;
  /** Number of rows after the merge. */
  readonly rows: number;
  /**
   * The oldest value in the column that determines a row's age, if the values can be compared as strings. Until this
   * value expires, retention removes no rows.
   */
  readonly oldest?: string;
  /** ID of the staged ranges included in this generation. */
  readonly filled?: string;
  /** Oldest first. */
  readonly segments: readonly Segment[];
}

/** Size of a generation on disk, in bytes. */
export function bytesOf({ segments }: Pick<Manifest, 'segments'>): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0);
}
