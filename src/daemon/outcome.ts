import type { Problem } from '../lib/problem.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import type { RetryRow } from '../state/tables.ts';

/**
 * What one run of a job came to, as far as this process followed it.
 *
 * - `delivered`, `unchanged`, `refreshed`: the instance shows the result.
 * - `superseded`: newer data got there first.
 * - `owed`: in the outbox; the daemon sends it, or the next `sync` of the job.
 * - `waiting_retry`, `waiting_quota`, `waiting_login`: in the outbox, with what it waits for.
 * - `quarantined`: a guard holds the result back; `problem` says which, and the instance keeps its current data.
 * - `failed`, `dead`: nothing of this run reached the instance; `problem` says why.
 * - `retrying`: a passing fault ended this attempt, and another one follows.
 * - `held`: a person holds the job; nothing was begun.
 * - `busy`: another run of the job holds it; nothing was begun.
 * - `stopped`: we were told to stop; nothing of this run is in the outbox.
 */
export interface Outcome {
  readonly state:
    | 'delivered'
    | 'unchanged'
    | 'refreshed'
    | 'superseded'
    | 'owed'
    | 'waiting_retry'
    | 'waiting_quota'
    | 'waiting_login'
    | 'quarantined'
    | 'failed'
    | 'dead'
    | 'retrying'
    | 'held'
    | 'busy'
    | 'stopped';
  readonly job: string;
  /** Absent when no run was begun. */
  readonly run?: string;
  readonly rows: number;
  readonly bytes: number;
  /** Requests paid for on this run's account. */
  readonly requests: number;
  readonly milliseconds: number;
  readonly problem?: Problem;
  /** What a person should know of the data all the same; absent when there is nothing. */
  readonly warnings?: readonly RunWarning[];
  /** When it is tried again, epoch milliseconds. */
  readonly until?: number;
  /** With `retrying`: the attempt that follows. */
  readonly retry?: RetryRow;
}
