import type { Batch } from './batch.ts';
import type { Column } from './column.ts';

/** Another job whose last rows a query reads. */
export interface JobReference {
  readonly job: string;
  /** The columns that the query needs. */
  readonly columns: readonly string[];
  /** The path of the option that names the job, such as `['for_each', 'job']`. */
  readonly option: readonly string[];
}

/** The rows that another job last delivered, or is about to deliver. */
export interface JobRows {
  readonly columns: readonly Column[];
  /** Valid until the next one is requested. */
  readonly batches: AsyncIterable<Batch>;
  /** When the rows were read from their source, in epoch milliseconds. */
  readonly asOf: number;
}

export interface JobRowsOptions {
  /** Maximum age of the rows, in milliseconds. Default: no limit. */
  readonly maxAgeMs?: number | undefined;
}

/**
 * Opens the last rows of a job that the connector's `readsJobs` returns. The rows are complete, and stay the same until
 * the run ends, even if the job runs meanwhile. Throws a Problem if there are none yet, or if they're too old.
 */
export type RowsOf = (job: string, options?: JobRowsOptions) => Promise<JobRows>;
