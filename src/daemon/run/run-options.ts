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
  /** The run's logical time in epoch milliseconds, which relative dates in queries are based on. Default: now. */
  readonly logicalAt?: number;
  /** The firing's planned time in epoch milliseconds. */
  readonly firedAt?: number;
  /** Called in the transaction that begins the run or its next attempt. */
  readonly begun?: (parts: Repositories, run: string) => Promise<void>;
  /** Called in the transaction that ends the run as failed. */
  readonly failed?: (parts: Repositories, problem: Problem) => Promise<void>;
  /**
   * Called in the transaction that ends the run because its process stops. Not called if a newer firing has replaced
   * the run, or if another process has interrupted it.
   */
  readonly stopped?: (parts: Repositories) => Promise<void>;
  /**
   * If set, the run delivers its payload and waits for retries that are due before this time (epoch ms). If absent, the
   * payload stays in the outbox for the daemon's deliverer.
   */
  readonly deliverUntil?: number;
  /** A backfill's ranges, which the run merges into the job's kept rows. */
  readonly staged?: StagedRanges;
  /** Warnings that were raised while the ranges were read, before the run began. */
  readonly warned?: readonly RunWarning[];
  /** The current attempt, which decides what follows a transient error. If absent, the run isn't retried. */
  readonly attempt?: Attempt | undefined;
  /**
   * Batches a bulk refresh with others that are due at the same time. If absent, the refresh is sent in its own
   * request.
   */
  readonly seat?: RefreshTicket;
}

/** The job and source to name in the run's problems. */
export function placeOf({ job }: RunOptions): { job: string; source?: string } {
  return { job: job.name, source: job.extract?.source.name };
}
