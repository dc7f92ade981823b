import type { Generated } from 'kysely';

export interface RunsTable {
  sequence: Generated<number>;
  id: string;
  job: string;
  origin: 'person' | 'schedule';
  owner: string;
  state: RunState;
  /**
   * When the run's last attempt began, which is the time as of which its data counts. To get the time when the run
   * began, use {@link spanOf}.
   */
  started_at: number;
  ended_at: number | null;
  row_count: number | null;
  bytes: number | null;
  requests: number;
  code: string | null;
  message: string | null;
  /** What a user can do about the error: the `next` of the problem that ended the run. */
  next: string | null;
  /** The planned time of the run's firing. Null if a user started the run. */
  fired_at: number | null;
  /** When the run's last attempt began, as returned by {@link tickOf} in the owner's boot. */
  started_tick: number | null;
  /**
   * Duration of the run's last attempt in milliseconds. Null while the attempt is in progress, or if the machine was
   * rebooted during it.
   */
  took_ms: number | null;
  /** Read by {@link warningsOf}. */
  warnings: string | null;
  /** Number of attempts that have begun, including the current one. */
  attempts: Generated<number>;
  /** Read by {@link pastAttempts}. */
  past_attempts: Generated<string | null>;
}

/** Runs that have failed with a transient error and will be retried. The error is in the run's row in `runs`. */
export interface RetriesTable {
  job: string;
  run: string;
  /** The planned time of the run's firing. */
  fired_at: number;
  /** The instant that the run represents. Null means that the run represents the present. */
  logical_at: number | null;
  /** Failed attempts. */
  attempt: number;
  /**
   * Number of waits so far, which is the exponent of the backoff. It includes waits after which another job that reads
   * the same source was tried.
   */
  waits: number;
  /** When the first attempt began. */
  since: number;
  /** When the next one is due. */
  next_at: number;
  /**
   * End of the retries: the time of the next firing or the end of `within`. No attempt begins at this time or later.
   */
  until: number;
  /** The attempt facts for the next attempt, encrypted by `daemon/retry/handed-on.ts`. Null if there are none. */
  facts: string | null;
}

/**
 * State of a run. `running`: an attempt is in progress. `retrying`: a transient error ended the last attempt, and
 * another attempt will follow. `owed`: the payload isn't settled yet. All other states end the run. `interrupted`: the
 * process died. `quarantined`: a guard rejected the payload. `discarded`: a user discarded the payload.
 */
export type RunState =
  | 'running'
  | 'retrying'
  | 'owed'
  | 'delivered'
  | 'unchanged'
  | 'superseded'
  | 'refreshed'
  | 'dead'
  | 'quarantined'
  | 'discarded'
  | 'failed'
  | 'interrupted';
