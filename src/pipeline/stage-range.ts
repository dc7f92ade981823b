import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../lib/make-folder.ts';
import { Problem } from '../lib/problem.ts';
import type { Staged } from '../sets/manifest.ts';
import { SetRun, type SetRunGiven } from '../sets/set-run.ts';
import { Source, type SourceGiven } from './source.ts';
import { spoolProblem } from './spool-problem.ts';

/** So far ahead of the rows of a set are those numbered that are read again beside it. */
const farAhead = 2 ** 40;

export interface StageGiven extends Omit<SourceGiven, 'scratch'> {
  readonly range: NonNullable<SourceGiven['range']>;
  /** The set, and what of it has been read again already. */
  readonly set: Required<Pick<SetRunGiven, 'folder' | 'run' | 'current'>> & Pick<SetRunGiven, 'staged'>;
}

/**
 * Reads a range of the source again, into a file beside the rows that its job keeps. Resolves to all such files, once it is
 * whole on the disk; nothing refers to it yet.
 */
export async function stageRange(given: StageGiven): Promise<{ readonly staged: Staged; readonly rows: number }> {
  const { extract, set, clock } = given;
  const { write: rule, timezone: zone = 'UTC' } = extract;
  if (rule === undefined) throw new Error('only a job that keeps its rows has ranges to fill');
  const scratch = join(set.folder, set.run, 'scratch');
  makeFolder(scratch, 0o700);
  const { columns, next } = set.current;
  const { staged = { id: set.run, columns, next: next + farAhead, segments: [] } } = set;
  const source = new Source({ ...given, scratch });
  const { room } = given;
  const run = new SetRun({
    ...{ ...set, staged, rule, scratch, zone, asOf: clock.now() },
    room,
  });
  try {
    const come = await source.open();
    const { covers } = source.said;
    if (covers === undefined && rule.disposition === 'append') throw noStretch(extract.source.connector.title);
    run.begin({ columns: come, ...source.said });
    for (let batch = await source.next(); batch !== undefined; batch = await source.next()) await run.take(batch);
    if (run.replaced !== undefined) given.warn(run.replaced);
    return { staged: await run.stage(), rows: run.taken };
  } catch (thrown) {
    const isOfDisk = (thrown as NodeJS.ErrnoException).syscall !== undefined;
    throw isOfDisk ? spoolProblem(thrown, set.folder) : thrown;
  } finally {
    await run.close();
    await source.close().finally(() => rm(scratch, { recursive: true, force: true }));
  }
}

function noStretch(title: string): Problem {
  return new Problem({
    code: 'BACKFILL_APPEND',
    family: 'config',
    message: `${title} cannot say which of the kept rows lie in the range, so appending it would show them twice`,
    next: 'merge by a key instead: write: {disposition: merge, key: [id]}',
  });
}
