import type { Column } from '../sdk/column.ts';
import type { ColumnRange, Segment } from './manifest.ts';
import { rangeFilter } from './range-filter.ts';
import type { RecordRef } from './record.ts';
import type { RecordSource } from './record-source.ts';
import { SegmentReader } from './segment-reader.ts';

interface SegmentReadersOptions {
  /** The range that the run's own rows replace. */
  readonly covers: ColumnRange | undefined;
  readonly columns: readonly Column[];
  /** The path of a segment's file. */
  readonly pathOf: (file: string) => string;
}

/** Readers of the segments, ranked by their order. Each omits the rows in ranges that later segments replace. */
export function segmentReaders(
  segments: readonly Segment[],
  { covers, columns, pathOf }: SegmentReadersOptions,
): RecordSource[] {
  const stretches = [...segments.map(({ replaces }) => replaces), covers];
  return segments.map((segment, rank) => {
    const later = stretches.slice(rank + 1).filter((stretch) => stretch !== undefined);
    const skips = anyOf(later.map((stretch) => rangeFilter(stretch, columns)));
    return new SegmentReader({ path: pathOf(segment.file), segment, rank, skips });
  });
}

/**
 * Inserts each staged segment before the first segment with a later extract. Other segments keep their order, even if
 * clocks were wrong.
 */
export function inOrderOfExtract(segments: readonly Segment[], staged: readonly Segment[]): Segment[] {
  const all = [...segments];
  for (const one of staged) {
    const at = all.findIndex(({ asOf }) => asOf > one.asOf);
    all.splice(at < 0 ? all.length : at, 0, one);
  }
  return all;
}

function anyOf(tests: readonly ((spot: RecordRef) => boolean)[]): ((spot: RecordRef) => boolean) | undefined {
  return tests.length === 0 ? undefined : (spot) => tests.some((test) => test(spot));
}
