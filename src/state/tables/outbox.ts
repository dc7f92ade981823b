import type { Generated } from 'kysely';

export interface OutboxTable {
  id: Generated<number>;
  run: string;
  job: string;
  destination: string;
  url: string;
  /** Empty when the target names no client. */
  client_id: string;
  instance: string;
  sha256: string;
  path: string;
  bytes: number;
  row_count: number;
  format: string;
  media_type: string;
  as_of: number;
  always: number;
  state: OutboxState;
  attempts: number;
  /** Attempts in a row that had no end, because their process died: not in `attempts`. */
  crashes: Generated<number>;
  /** Of `attempts`, those that failed while the service took something else: the payload is to blame, and not the service. */
  faults: Generated<number>;
  last_attempt_at: number | null;
  /** Earliest time of the next attempt, also of the resend of a delivered payload. */
  next_attempt_at: number | null;
  /** When an attempt last ended without an answer: it may still be carried out. Not yet set while the last one has no end. */
  unanswered_at: number | null;
  code: string | null;
  message: string | null;
  owed_at: number;
  /** Since when the instance waits for this or something older: what supersedes takes over the wait. */
  waiting_since: number;
  settled_at: number | null;
}

export type OutboxState = 'owed' | 'delivered' | 'superseded' | 'quarantined' | 'discarded' | 'dead';

export interface ReceiptsTable {
  url: string;
  client_id: string;
  instance: string;
  sha256: string;
  bytes: number;
  format: string;
  as_of: number;
  at: number;
  /** 1: the last request to the instance was answered with success. 0: one was begun, its end is not known. */
  certain: number;
  /** Age of the newest data that was ever tried, arrived or not. */
  tried_as_of: number;
}

export interface TargetsTable {
  url: string;
  client_id: string;
  name: string;
  datasource: string;
  instance: string;
  format: string;
  remembered_at: number;
}

export interface QuarantineTable {
  /** Of the payload in the outbox. */
  id: number;
  /** JSON: what each guard found. */
  findings: string;
  /** The payload that it was compared with; null when there was none. */
  last_run: string | null;
  last_rows: number | null;
  last_bytes: number | null;
  last_path: string | null;
  /** Where the watermark goes when the payload is approved; null where the source has none. */
  reading: string | null;
  watermark: string | null;
}
