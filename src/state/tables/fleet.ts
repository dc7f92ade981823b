/**
 * Runs that the planner has queued for the processes of a fleet. A run has a row from the transaction in which its
 * firing counts as fired until the planner has taken its outcome.
 */
export interface FleetRunsTable {
  /** A job has at most one run at a time. */
  job: string;
  /** Identifies the row among all rows that the job has had. */
  id: string;
  /** The planned time of the run's firing. */
  fired_at: number;
  /** The instant that the run represents. Null means that the run represents the present. */
  logical_at: number | null;
  /** The retry to make, as JSON. Null if the firing starts a new run. */
  attempt: string | null;
  /** When the job fires next. No retry begins at or after this time. Null: no firing limits the retries. */
  next_firing: number | null;
  /** Runs with a higher number start first. */
  urgency: number;
  /** Hash of the config that the run was planned with. Only processes with the same config take the run. */
  config_sha256: string;
  queued_at: number;
  /** The process that has taken the run. Null while the run is waiting. */
  owner: string | null;
  /** Identifies this taking. A process that lost the run, because it was considered dead, can't settle it. */
  token: string | null;
  taken_at: number | null;
  /** The ID of the run, from its beginning. */
  run: string | null;
  /** How long the run has been waiting for its busy job, in whichever processes. */
  busy_ms: number;
  /** When a process last found the job busy. Null if none has. */
  busy_at: number | null;
  /** Number of times that a process died during the run. */
  deaths: number;
  /** 1 if the run must end, because a newer firing replaces it. */
  cancelled: number;
  /** The outcome, as JSON, until the planner has taken it. */
  outcome: string | null;
}
