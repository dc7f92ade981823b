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
  /** The instant that the run is dated, epoch milliseconds; absent: now. Dates in queries are relative to it. */
  readonly logicalAt?: number;
  /** The instant that its firing was planned for, epoch milliseconds. */
  readonly firedAt?: number;
  /** Written down in the transaction that begins the run. */
  readonly settle?: (parts: Repositories) => Promise<void>;
  /** Written down in the transaction that ends the run as failed. */
  readonly failed?: (parts: Repositories, problem: Problem) => Promise<void>;
  /**
   * Deliver within the run and wait for retries that come due before this instant (epoch ms). Absent: leave the
   * payload in the outbox for the daemon's deliverer.
   */
  readonly deliverUntil?: number;
  /** Ranges that were read again, for the rows that the job keeps. */
  readonly staged?: StagedRanges;
  /** What was warned of before the run began, while ranges were read. */
  readonly warned?: readonly RunWarning[];
  /** What follows if a passing fault ends it. Absent: nothing does. */
  readonly attempt?: Attempt | undefined;
  /** Where a bulk refresh meets those that are due together with it. Absent: it goes alone. */
  readonly seat?: RefreshTicket;
}

/** What a problem of the run is told with. */
export function placeOf({ job }: RunOptions): { job: string; source?: string } {
  return { job: job.name, source: job.extract?.source.name };
}
