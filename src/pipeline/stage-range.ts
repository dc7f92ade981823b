import { join } from 'node:path';
import { joinLayouts } from '../kept-rows/kept-columns.ts';
import type { StagedRanges } from '../kept-rows/manifest.ts';
import { MergeRun, type MergeRunOptions } from '../kept-rows/merge-run.ts';
import { Problem } from '../lib/problem.ts';
import { makeScratch, removeScratch } from './scratch.ts';
import { SourceReader } from './source.ts';
import type { SourceReaderOptions } from './source-reader-options.ts';
import { spoolProblem } from './spool-problem.ts';

/** Offset of row numbers in a backfill, so that they don't collide with new rows' numbers. */
const farAhead = 2 ** 40;

export interface StageRangeOptions extends Omit<SourceReaderOptions, 'scratch' | 'keptColumns'> {
  readonly range: NonNullable<SourceReaderOptions['range']>;
  /** The kept rows, and the ranges that have already been read again. */
  readonly set: Required<Pick<MergeRunOptions, 'folder' | 'run' | 'current'>> & Pick<MergeRunOptions, 'staged'>;
}

/**
 * For a backfill: reads a range of the source again into a segment next to the kept rows. Resolves to all such segments
 * when the new one is complete on disk; nothing refers to it yet.
 */
export async function stageRange(
  given: StageRangeOptions,
): Promise<{ readonly staged: StagedRanges; readonly rows: number }> {
  const { extract, set, clock } = given;
  const { write: rule, timezone: zone = 'UTC' } = extract;
  if (rule === undefined) throw new Error('only jobs that keep their rows can be backfilled');
  const scratch = makeScratch(join(set.folder, set.run, 'scratch'));
  const { columns, next } = set.current;
  const { staged = { id: set.run, columns, next: next + farAhead, segments: [] } } = set;
  const source = new SourceReader({ ...given, scratch, keptColumns: joinLayouts(columns, staged.columns) });
  const { room } = given;
  const run = new MergeRun({
    ...{ ...set, staged, rule, scratch, zone, asOf: clock.now() },
    room,
  });
  try {
    const come = await source.open();
    const { covers } = source.properties;
    if (covers === undefined && rule.disposition === 'append') throw noColumnRange(extract.source.connector.title);
    run.begin({ columns: come, ...source.properties });
    for (let batch = await source.next(); batch !== undefined; batch = await source.next()) await run.take(batch);
    for (const warning of run.warnings) given.warn(warning);
    return { staged: await run.stage(), rows: run.taken };
  } catch (thrown) {
    const isOfDisk = (thrown as NodeJS.ErrnoException).syscall !== undefined;
    throw isOfDisk ? spoolProblem(thrown, set.folder) : thrown;
  } finally {
    await run.close();
    await source.close().finally(() => removeScratch(scratch, given.log));
  }
}

function noColumnRange(title: string): Problem {
  return new Problem({
    code: 'BACKFILL_APPEND',
    family: 'config',
    message: `${title} cannot identify the kept rows in the range, so append would duplicate them`,
    next: 'merge by a key instead: write: {disposition: merge, key: [id]}',
  });
}
