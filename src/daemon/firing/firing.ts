import type { Job } from '../../config/config.ts';
import type { SkippedFirings } from '../../schedule/misfire.ts';
import type { Repositories } from '../../state/store.ts';
import type { RetryRow } from '../../state/tables.ts';
import type { OpenFiring } from './open-firings.ts';

export type FiringRecords = Pick<Repositories, 'schedules' | 'deferredFirings' | 'leases'>;

/** A due firing. */
export interface Firing {
  readonly job: Job;
  /** The firing's planned time, in epoch milliseconds. */
  readonly at: number;
  /** The firing's entry among the job's open firings. Retries don't have one. */
  readonly open?: OpenFiring;
  /** The run's logical time, which relative dates in queries refer to. Default: the current time. */
  readonly logicalAt?: number;
  /** Set if this firing retries a failed attempt. */
  readonly attempt?: RetryRow;
  /** True if the firing was missed and now has a run of its own. If the job is running, that run waits for its turn. */
  readonly isCatchUp: boolean;
  /** True if the firing's first run has ended and the job's next firing has been recorded since then. */
  readonly isRepeated?: boolean;
  /** The ID of the run that a planner of the fleet has already queued for this firing. */
  readonly queuedAs?: string;
}

export interface DueFirings {
  readonly job: Job;
  readonly firing?: Firing;
  /** The firings that the misfire policy skips. */
  readonly skipped?: SkippedFirings;
}

/**
 * Key of a waiting firing: the job's name if the job's next firing may replace this one; otherwise, a key of its own.
 */
export function placeOfFiring({ job, at, logicalAt }: Firing): string {
  return logicalAt === undefined ? job.name : `${job.name} ${at}`;
}

/** Returns the firing that starts a new run instead of retrying the previous run. */
export function newRunOf({ attempt, queuedAs: _, ...firing }: Firing, hadRun = attempt !== undefined): Firing {
  return hadRun ? { ...firing, isRepeated: true } : firing;
}
