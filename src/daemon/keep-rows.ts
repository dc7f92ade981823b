import type { Job } from '../config/config.ts';
import type { Keeping } from '../pipeline/folded-source.ts';
import type { Staged } from '../sets/manifest.ts';
import type { Store } from '../state/store.ts';
import { readingOf, shapeHashOf } from './reading.ts';

/** Where a run goes on: its watermark, and the data set of a job that keeps its rows. */
export interface Onward {
  readonly reading: string;
  /** Of what is made of the rows; absent for a job that keeps none. */
  readonly shape?: string;
  readonly watermark?: string;
  readonly keeping?: Keeping;
}

/**
 * Looks up how far a job has come. A set without a watermark counts only where the source never gave one: rows that are all
 * read again must not be put to those that were.
 */
export async function lookUpPlace(
  store: Pick<Store, 'sets' | 'watermarks' | 'backfills'>,
  { job, run, staged }: { job: Job; run: string; staged?: Staged },
): Promise<Onward> {
  const reading = readingOf(job);
  const watermark = await store.watermarks.find(job.name, reading);
  const known = watermark === undefined ? {} : { watermark };
  if (job.extract?.write === undefined) return { reading, ...known };
  const { source, query } = job.extract;
  const shape = shapeHashOf(job);
  const isResuming = source.connector.givesOnlyNewBy?.(query) !== undefined;
  const present = isResuming && watermark === undefined ? undefined : await store.sets.find(job.name, reading);
  const isHeld = (await store.backfills.find(job.name)) !== undefined;
  const keeping: Keeping = {
    folder: store.sets.root,
    run,
    isHeld,
    isWanted: present === undefined || !present.isShown || present.shape !== shape,
    ...(present === undefined ? {} : { current: present.manifest }),
    ...(staged === undefined ? {} : { staged }),
  };
  // A watermark whose rows are not there any more is none.
  return { reading, shape, keeping, ...(present === undefined ? {} : known) };
}
