import type { Job } from '../config/config.ts';
import type { SkippedFirings } from '../schedule/misfire.ts';
import type { Repositories } from '../state/store.ts';
import type { RetryRow } from '../state/tables.ts';

/** Where it's written down what becomes of firings. */
export type FiringRecords = Pick<Repositories, 'schedules' | 'deferredFirings'>;

/** A firing that is to be acted on. */
export interface Firing {
  readonly job: Job;
  /** The instant it was planned for, epoch milliseconds. */
  readonly at: number;
  /** The instant that its run stands for, where that is not the present: dates in queries are reckoned from it. */
  readonly logicalAt?: number;
  /** Another attempt at it, after the last one failed. */
  readonly attempt?: RetryRow;
  /** It was missed and has a run of its own now: it waits for its turn, whatever the job is at. */
  readonly isCatchUp: boolean;
  /** Writes down when the job fires next, as it is planned now. */
  settle(parts: FiringRecords): Promise<void>;
  /**
   * Writes down that this firing, and what it has taken the place of, has its run. Called inside the transaction that begins
   * the run, so that a crash neither loses this firing nor lets it fire twice.
   */
  begin(parts: FiringRecords): Promise<void>;
  /** Writes down that this firing waits, or that its run was given up: the next start fires it unless it has begun by then. */
  defer(parts: FiringRecords): Promise<void>;
  /** All that was to be done about it is done, whatever came of it. What was missed besides it may go on. */
  done(): void;
}

/** Names what a firing that waits stands for: the job, whose next firing takes its place, or itself where it has a run of its own. */
export function placeOfFiring({ job, at, logicalAt }: Firing): string {
  return logicalAt === undefined ? job.name : `${job.name} ${at}`;
}

/** Firings that nothing is done about, as the misfire policy wants it. */
export interface PassedOver extends SkippedFirings {
  readonly job: Job;
  /** Writes down when the job fires next. Absent: the run that fires instead does. */
  readonly settle?: (parts: FiringRecords) => Promise<void>;
}
