import type { Segment } from './manifest.ts';

const maxSegments = 16;
/** During a backfill, compaction starts later, because the backfill's segments are inserted among the others. */
const maxSegmentsHeld = 64;
/** Number of records per live row. */
const maxRecords = 1.3;
const fewRecords = 1000;

interface RowsOnDisk {
  readonly segments: readonly Segment[];
  readonly liveRows: number;
  /** Number of records that the run adds. */
  readonly newRecords: number;
  /** Set during a backfill. */
  readonly isHeld: boolean;
}

/** Whether a run compacts all rows into one file, because there are too many files or records of former rows. */
export function isToCompact({ segments, liveRows, newRecords, isHeld }: RowsOnDisk): boolean {
  if (isHeld) return segments.length >= maxSegmentsHeld;
  const records = segments.reduce((sum, { rows }) => sum + rows, newRecords);
  return segments.length >= maxSegments || records > maxRecords * liveRows + fewRecords;
}
