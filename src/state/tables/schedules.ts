import type { Generated } from 'kysely';

export interface SchedulesTable {
  job: string;
  /** The schedule from which `next_at` was calculated. If the schedule changes, `next_at` must be calculated again. */
  schedule: string;
  next_at: number;
}

/**
 * Firings that are waiting until a login is no longer on hold or the disk works again. They're fired at the next start.
 */
export interface DeferredFiringsTable {
  job: string;
  at: number;
  /** The instant that the run represents. Null means that it represents the present; the job then has no other row. */
  logical_at: number | null;
}

/** Consecutive firings of a job that were skipped for the same reason. */
export interface SkipsTable {
  sequence: Generated<number>;
  job: string;
  reason: string;
  /** The planned time of the first of these firings. */
  first_at: number;
  /** The planned time of the last of these firings. */
  last_at: number;
  firings: number;
  noted_at: number;
}
