import type { Generated } from 'kysely';

export interface RunsTable {
  sequence: Generated<number>;
  id: string;
  job: string;
  origin: 'person' | 'schedule';
  owner: string;
  state: RunState;
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
  /** When it began, by {@link tickOf} of its owner's boot. */
  started_tick: number | null;
  /** Milliseconds from its start to its end; null while it goes on, and if the machine was started again between. */
  took_ms: number | null;
  /** Read by {@link warningsOf}. */
  warnings: string | null;
}

/**
 * `running` until its payload is owed or it ends; `owed` until the payload is settled; the rest are results.
 * `interrupted`: its process died under it. `quarantined`: a guard held its payload back; `discarded`: a person put that away.
 */
export type RunState =
  | 'running'
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
