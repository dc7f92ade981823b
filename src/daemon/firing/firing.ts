import type { Job } from '../../config/config.ts';
import type { SkippedFirings } from '../../schedule/misfire.ts';
import type { Repositories } from '../../state/store.ts';
import type { RetryRow } from '../../state/tables.ts';

/** Where it's written down what becomes of firings. */
export type FiringRecords = Pick<Repositories, 'schedules' | 'deferredFirings'>;

/** A firing that is to be acted on. */
export interface Firing {
  readonly job: Job;
  /** The instant it was planned for, epoch milliseconds. */
  readonly at: number;
  /** The instant that its run is dated, if not now: dates in queries are relative to it. */
  readonly logicalAt?: number;
  /** Another attempt at it, after the last one failed. */
  readonly attempt?: RetryRow;
  /** It was missed and has a run of its own now: it waits for its turn, whatever the job is at. */
  readonly isCatchUp: boolean;
  /** It had a run before, which is over; when the job fires next is recorded since. */
  readonly isRepeated?: boolean;
}

/** Firings of a job that came due. */
export interface DueFirings {
  readonly job: Job;
  readonly firing?: Firing;
  /** Those that the misfire policy skips. */
  readonly skipped?: SkippedFirings;
}

/** The key of a waiting firing: its job, if the job's next firing may replace it, or its run, if it already has one. */
export function placeOfFiring({ job, at, logicalAt }: Firing): string {
  return logicalAt === undefined ? job.name : `${job.name} ${at}`;
}

/** The firing for another run, which is no attempt of the former one. */
export function newRunOf({ attempt, ...firing }: Firing, hadRun = attempt !== undefined): Firing {
  return hadRun ? { ...firing, isRepeated: true } : firing;
}
