import type { Batch } from '../sdk/batch.ts';
import type { JobRows, JobRowsOptions, RowsOf } from '../sdk/job-rows.ts';
import { makeScratch } from './scratch.ts';

/** Opens a job's last rows (see {@link RowsOf}). `folder` is the run's private folder, for files that the rows need. */
export type JobRowsReader = (job: string, options: JobRowsOptions & { readonly folder: string }) => Promise<JobRows>;

/** The `rowsOf` of a run's context. `scratch` is the run's folder; `onBatch` is called with each batch. */
export function runRowsOf(
  read: JobRowsReader,
  { scratch, onBatch }: { readonly scratch: string; readonly onBatch: () => Promise<void> },
): RowsOf {
  return async (job, given) => {
    const rows = await read(job, { ...given, folder: makeScratch(scratch) });
    return { ...rows, batches: watched(rows.batches, onBatch) };
  };
}

async function* watched(
  batches: AsyncIterable<Batch>,
  onBatch: () => Promise<void>,
): AsyncGenerator<Batch, void, void> {
  for await (const batch of batches) {
    await onBatch();
    yield batch;
  }
}
