import type { Column } from '../sdk/column.ts';

/** A column of a data set. */
export interface KeptColumn extends Column {
  /** False while no row has had a value in it: until then its type says nothing. */
  readonly seen: boolean;
}

/** A stretch of values of one column: from the first on, up to but without the second. Canonical text. */
export interface ColumnRange {
  readonly column: string;
  readonly from: string;
  readonly to: string;
}

/** A file of rows in the order of their keys. Never changed once it is whole; several generations may share it. */
export interface Segment {
  /** Relative to the folder of all sets: `RUN/NUMBER.rows`. */
  readonly file: string;
  /** Records, those included that mark a deletion. */
  readonly rows: number;
  readonly bytes: number;
  /** CRC-32 of its bytes. */
  readonly crc: number;
  /** Start of the extract that it came of, epoch milliseconds. Of two rows of one key the later one counts. */
  readonly asOf: number;
  /** Rows of earlier segments in this stretch are gone: the source was read again there, and these are all it has. */
  readonly replaces?: ColumnRange;
}

/** Ranges that were read again and are not part of a generation yet. */
export interface StagedRanges {
  /** Tells one reading of a range from the next. */
  readonly id: string;
  /** The columns that its records have. */
  readonly columns: readonly KeptColumn[];
  /** Number of the next row, where rows are added. */
  readonly next: number;
  readonly segments: readonly Segment[];
}

/** All that a generation of a data set is. Its files lie beside; it becomes the present one by a row in the store. */
export interface Manifest {
  readonly version: 1;
  readonly columns: readonly KeptColumn[];
  /** Number of the next row, where rows are added. */
  readonly next: number;
  /** Rows that it comes to. */
  readonly rows: number;
  /** Oldest value that retention let through, where that can be told from the next one: until it is too old, nothing goes. */
  readonly oldest?: string;
  /** The ranges that were put among the rows with this generation. */
  readonly filled?: string;
  /** The earlier ones first. */
  readonly segments: readonly Segment[];
}

/** Bytes of a generation on the disk. */
export function bytesOf({ segments }: Pick<Manifest, 'segments'>): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0);
}
