import type { Job } from '../../config/config.ts';
import type { TargetAddress } from '../../delivery/address.ts';
import type { StagedRanges } from '../../kept-rows/manifest.ts';
import type { KeptRowsOptions } from '../../pipeline/merged-source.ts';
import { instanceKeyOf } from '../../state/outbox/instance-key.ts';
import type { Store } from '../../state/store.ts';
import { outputFingerprint, queryFingerprint } from '../config/fingerprints.ts';

type Places = Pick<Store, 'generations' | 'watermarks' | 'backfills' | 'goodPayloads' | 'receipts'>;

/** Where a run resumes: the watermark and the rows that the job keeps. */
export interface ResumePoint {
  readonly reading: string;
  /** The output fingerprint; absent for a job that doesn't keep rows. */
  readonly shape?: string;
  readonly watermark?: string;
  readonly keptRows?: KeptRowsOptions;
}

/**
 * Finds the point from which a job resumes. If the source returns only new rows, kept rows without a watermark aren't
 * used, because a full read must not be merged into earlier rows. A source may report "unchanged" only if the instance
 * shows its latest data. In case of doubt, the data is read or encoded again.
 */
export async function findResumePoint(
  store: Places,
  given: {
    readonly job: Job;
    readonly run: string;
    /** The instance that the job writes to; absent if it hasn't been created yet. */
    readonly address: TargetAddress | undefined;
    readonly staged?: StagedRanges;
    /** Set if the run must create a payload even if the source hasn't changed. */
    readonly mustRecord?: boolean;
  },
): Promise<ResumePoint> {
  const { job, run, address, staged, mustRecord = false } = given;
  const reading = queryFingerprint(job, address);
  const watermark = await store.watermarks.find(job.name, reading);
  const known = watermark === undefined ? {} : { watermark };
  const isResuming = givesOnlyNew(job);
  if (job.extract?.write === undefined) {
    const shown = watermark === undefined ? 'as given' : mustRecord ? 'perhaps' : await shownOf(store, given);
    // A source that returns only new rows can't return the earlier rows again.
    const counts = shown === 'as given' || (isResuming && shown === 'perhaps');
    return { reading, ...(counts ? known : {}) };
  }
  const shape = outputFingerprint(job, address);
  const present = isResuming && watermark === undefined ? undefined : await store.generations.find(job.name, reading);
  await store.generations.fetch([...(present?.manifest.segments ?? []), ...(staged?.segments ?? [])]);
  const isHeld = (await store.backfills.find(job.name)) !== undefined;
  const isShown =
    !mustRecord && present?.isShown === true && present.shape === shape && (await shownOf(store, given)) === 'as given';
  const keptRows: KeptRowsOptions = {
    folder: store.generations.root,
    run,
    isHeld,
    mustSend: !isShown,
    current: present?.manifest,
    staged,
  };
  // A watermark without its kept rows is invalid.
  return { reading, shape, keptRows, ...(present === undefined ? {} : known) };
}

function givesOnlyNew({ extract }: Job): boolean {
  return extract?.source.connector.givesOnlyNewBy?.(extract.query) !== undefined;
}

/**
 * Whose data the instance shows, or will show after the owed payloads are sent. `as given`: certainly the job's last
 * payload. `perhaps`: that payload, unless an upload of different data took effect although it got no response. `by
 * another`: for a time, another job had this target in the config.
 */
async function shownOf(
  store: Places,
  { job, address }: { job: Job; address: TargetAddress | undefined },
): Promise<'as given' | 'perhaps' | 'by another'> {
  if (address === undefined) return 'as given';
  const key = instanceKeyOf({ destination: job.destination, ...address });
  const last = await store.goodPayloads.last(key);
  if (last !== undefined && last.job !== job.name) return 'by another';
  // Payloads that are owed to a destination that is no longer in the config aren't sent.
  if (last?.state === 'owed' && last.destination !== job.destination.name) return 'by another';
  const isSure = last?.state === 'owed' || !(await store.receipts.isDoubtful(key));
  return isSure ? 'as given' : 'perhaps';
}
