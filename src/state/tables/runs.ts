import type { Generated } from 'kysely';

export interface RunsTable {
  sequence: Generated<number>;
  id: string;
  job: string;
  origin: 'person' | 'schedule';
  owner: string;
  state: RunState;
  /** When its last attempt began, which is the age of its data. {@link spanOf} returns when the run began. */
  started_at: number;
  ended_at: number | null;
  row_count: number | null;
  bytes: number | null;
  requests: number;
  code: string | null;
  message: string | null;
  /** What a user can do about it: the `next` of the problem that ended the run. */
  next: string | null;
  /** The planned time of its firing; null if a user started it. */
  fired_at: number | null;
  /** When its last attempt began, by {@link tickOf} in its owner's boot. */
  started_tick: number | null;
  /**
   * Duration of its last attempt in milliseconds; null while it's in progress, or if the machine was restarted in
   * between.
   */
  took_ms: number | null;
  /** Read by {@link warningsOf}. */
  warnings: string | null;
  /** Number of attempts that have begun, including the current one. */
  attempts: Generated<number>;
  /** Read by {@link pastAttempts}. */
  past_attempts: Generated<string | null>;
}

/** A run that failed with a transient error and is retried. Its row in `runs` has the error. */
export interface RetriesTable {
  job: string;
  run: string;
  /** The planned time of its firing. */
  fired_at: number;
  /** The instant that the run represents; null means the present. */
  logical_at: number | null;
  /** Failed attempts. */
  attempt: number;
  /**
   * Number of waits so far, including those in which another job of the same source was tried. It's the exponent of the
   * backoff.
   */
  waits: number;
  /** When the first attempt began. */
  since: number;
  /** When the next one is due. */
  next_at: number;
  /** No attempt begins at or after this time, which is the next firing or the end of `within`. */
  until: number;
  /** Attempt facts for the next attempt, encrypted by `daemon/retry/handed-on.ts`; null if there are none. */
  facts: string | null;
}

/**
 * `running` until its payload is owed or it ends; `retrying`: a transient error ended its last attempt, and another
 * follows; `owed` until the payload is settled; all others are final. `interrupted`: its process died. `quarantined`: a
 * guard rejected its payload; `discarded`: a user discarded it.
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
