import type { Generated } from 'kysely';

export interface RunsTable {
  sequence: Generated<number>;
  id: string;
  job: string;
  origin: 'person' | 'schedule';
  owner: string;
  state: RunState;
  /** When its last attempt began: its data is as old as that. {@link spanOf} knows when the run did. */
  started_at: number;
  ended_at: number | null;
  row_count: number | null;
  bytes: number | null;
  requests: number;
  code: string | null;
  message: string | null;
  /** What a person can do about it, in the words of the problem that ended it. */
  next: string | null;
  /** The instant that its firing was planned for; null where a person began it. */
  fired_at: number | null;
  /** When its last attempt began, by {@link tickOf} of its owner's boot. */
  started_tick: number | null;
  /** Milliseconds from the start of its last attempt to its end; null while it goes on, and if the machine was started again between. */
  took_ms: number | null;
  /** Read by {@link warningsOf}. */
  warnings: string | null;
  /** How many times it has been begun, the present one included. */
  attempts: Generated<number>;
  /** Read by {@link pastAttempts}. */
  past_attempts: Generated<string | null>;
}

/** A run that a passing fault ended and that is tried again. Its row in `runs` says what the fault was. */
export interface RetriesTable {
  job: string;
  run: string;
  /** The instant that its firing was planned for. */
  fired_at: number;
  /** The instant that the run represents; null: the present. */
  logical_at: number | null;
  /** Attempts that have failed. */
  attempt: number;
  /** Waits so far, those included in which another job of the source was tried: the exponent of the backoff. */
  waits: number;
  /** When the first attempt began. */
  since: number;
  /** When the next one is due. */
  next_at: number;
  /** No attempt begins then or later: the next firing, or the end of `within`. */
  until: number;
  /** What the last attempt hands on to the next one, encrypted by `daemon/retry/handed-on.ts`; null: nothing. */
  facts: string | null;
}

/**
 * `running` until its payload is owed or it ends; `retrying`: a passing fault ended its last attempt, and another follows; `owed` until the payload is settled; the rest are results.
 * `interrupted`: its process died under it. `quarantined`: a guard held its payload back; `discarded`: a person put that away.
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
