import type { DeliveryState } from '../../delivery/send-payload.ts';
import type { SettleResult } from '../../delivery/settle.ts';
import type { Problem } from '../../lib/problem.ts';
import type { RunWarning } from '../../lib/run-warnings.ts';
import type { RetryRow } from '../../state/tables.ts';

/**
 * The outcome of a job's run, as far as this process observed it.
 *
 * - `delivered`, `unchanged`, `refreshed`: the instance shows the result.
 * - `superseded`: newer data was published first.
 * - `owed`: the payload is in the outbox; the daemon or the job's next `sync` sends it.
 * - `waiting_retry`, `waiting_quota`, `waiting_login`: the payload is in the outbox and waits for a retry, the quota or
 *   a login.
 * - `quarantined`: a guard holds the result back; `problem` says which guard, and the instance keeps its current data.
 * - `failed`, `dead`: no data from this run reached the instance; `problem` says why.
 * - `retrying`: a transient error ended this attempt, and another follows.
 * - `on_hold`: the job is on hold; nothing was started.
 * - `busy`: another run of the job is in progress; nothing was started.
 * - `stopped`: the process was told to stop; the outbox has no payload from this run.
 */
export interface RunOutcome {
  readonly state:
    | SettleResult['state']
    | DeliveryState['state']
    | 'refreshed'
    | 'retrying'
    | 'on_hold'
    | 'busy'
    | 'stopped';
  readonly job: string;
  /** Absent if no run was started. */
  readonly run?: string;
  readonly rows: number;
  readonly bytes: number;
  /** Number of requests that this run sent. */
  readonly requests: number;
  readonly milliseconds: number;
  readonly problem?: Problem;
  /** Warnings about the data; absent if there are none. */
  readonly warnings?: readonly RunWarning[];
  /** Time of the next attempt in epoch milliseconds. */
  readonly until?: number;
  /** The next attempt, if the state is `retrying`. */
  readonly retry?: RetryRow;
}

/** How one stage of a run ended, without the figures, which are added when the run ends. */
export type RunStage = Pick<RunOutcome, 'state' | 'problem' | 'until' | 'retry'>;

export type RunFigures = Pick<RunOutcome, 'rows' | 'bytes' | 'requests' | 'milliseconds'>;
