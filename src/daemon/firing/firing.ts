import type { Job } from '../../config/config.ts';
import type { SkippedFirings } from '../../schedule/misfire.ts';
import type { Repositories } from '../../state/store.ts';
import type { RetryRow } from '../../state/tables.ts';
import type { OpenFiring } from './open-firings.ts';

export type FiringRecords = Pick<Repositories, 'schedules' | 'deferredFirings'>;

/** A due firing. */
export interface Firing {
  readonly job: Job;
  /** Its planned time, epoch milliseconds. */
  readonly at: number;
  /** Its place among the job's open firings; retries have none. */
  readonly open?: OpenFiring;
  /** The run's logical time, which relative dates in queries use; absent: now. */
  readonly logicalAt?: number;
  /** Set if this is a retry after a failed attempt. */
  readonly attempt?: RetryRow;
  /** The firing was missed and now has its own run, which waits for its turn if the job is running. */
  readonly isCatchUp: boolean;
  /** The firing's first run has ended, and the job's next firing has been recorded since. */
  readonly isRepeated?: boolean;
}

export interface DueFirings {
  readonly job: Job;
  readonly firing?: Firing;
  /** The firings that the misfire policy skips. */
  readonly skipped?: SkippedFirings;
}

/** Key of a waiting firing: its job's name if the job's next firing may replace it; otherwise, one of its own. */
export function placeOfFiring({ job, at, logicalAt }: Firing): string {
  return logicalAt === undefined ? job.name : `${job.name} ${at}`;
}

/** The firing for a new run rather than a retry of the previous one. */
export function newRunOf({ attempt, ...firing }: Firing, hadRun = attempt !== undefined): Firing {
  return hadRun ? { ...firing, isRepeated: true } : firing;
}
