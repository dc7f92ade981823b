import type { Config, Job } from '../../config/config.ts';
import type { RefreshTicket } from '../../delivery/refresh-batcher.ts';
import type { Priority } from '../../delivery/send-queue.ts';
import type { StagedRanges } from '../../kept-rows/manifest.ts';
import type { Problem } from '../../lib/problem.ts';
import type { RunWarning } from '../../lib/run-warnings.ts';
import type { Repositories } from '../../state/store.ts';
import type { Runtime } from '../compose.ts';
import type { Attempt } from '../retry/attempt.ts';

export interface RunOptions {
  readonly runtime: Runtime;
  readonly config: Pick<Config, 'folder'>;
  readonly job: Job;
  readonly origin: Priority;
  readonly signal: AbortSignal;
  /** The run's logical time, which relative dates in queries use, in epoch milliseconds; absent: now. */
  readonly logicalAt?: number;
  /** The firing's planned time, epoch milliseconds. */
  readonly firedAt?: number;
  readonly settle?: (parts: Repositories) => Promise<void>;
  /** Called in the transaction that ends the run as failed. */
  readonly failed?: (parts: Repositories, problem: Problem) => Promise<void>;
  /**
   * Delivers during the run, and waits for retries that are due before this time (epoch ms). Absent: the payload stays
   * in the outbox for the daemon's deliverer.
   */
  readonly deliverUntil?: number;
  /** A backfill's ranges, which the run merges into the job's kept rows. */
  readonly staged?: StagedRanges;
  /** Warnings from reading the ranges, before the run began. */
  readonly warned?: readonly RunWarning[];
  /** What follows a transient error. Absent: no retry. */
  readonly attempt?: Attempt | undefined;
  /** Batches a bulk refresh with others due at the same time. Absent: it's sent alone. */
  readonly seat?: RefreshTicket;
}

/** The location to report with the run's problems. */
export function placeOf({ job }: RunOptions): { job: string; source?: string } {
  return { job: job.name, source: job.extract?.source.name };
}
