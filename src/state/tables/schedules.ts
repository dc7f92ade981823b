import type { Generated } from 'kysely';

export interface SchedulesTable {
  job: string;
  /** The schedule from which `next_at` was calculated. If it changes, so must `next_at`. */
  schedule: string;
  next_at: number;
}

/** Firings that wait until a login is off hold or the disk works again. The next start fires them. */
export interface DeferredFiringsTable {
  job: string;
  at: number;
  /** The instant that its run represents; null means the present, in which case the job has no other row. */
  logical_at: number | null;
}

/** Consecutive skipped firings of a job with the same reason. */
export interface SkipsTable {
  sequence: Generated<number>;
  job: string;
  reason: string;
  /** Planned times of the first and the last one. */
  first_at: number;
  last_at: number;
  firings: number;
  noted_at: number;
}
