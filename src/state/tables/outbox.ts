import type { Generated } from 'kysely';

export interface OutboxTable {
  id: Generated<number>;
  run: string;
  job: string;
  destination: string;
  url: string;
  /** Empty if the target has no client. */
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
  /** Consecutive attempts whose process died. Not counted in `attempts`. */
  crashes: Generated<number>;
  /**
   * How many of `attempts` failed while the service accepted other payloads, which means that the payload is at fault.
   */
  faults: Generated<number>;
  last_attempt_at: number | null;
  /** Earliest time of the next attempt or, for a delivered payload, of the resend. */
  next_attempt_at: number | null;
  /**
   * When an attempt last ended without a response, so the service may still process it. Not yet set while the last
   * attempt has no recorded end.
   */
  unanswered_at: number | null;
  code: string | null;
  message: string | null;
  owed_at: number;
  /**
   * When the instance started to wait for this or older data. A payload inherits this time from those that it
   * supersedes.
   */
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
  /** 1 if the last request to the instance succeeded, 0 if its result is unknown. */
  certain: number;
  /** Age of the newest data that was ever tried, whether or not it arrived. */
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
  /** ID of the payload in the outbox. */
  id: number;
  /** Each guard's findings as JSON. */
  findings: string;
  /** The payload that it was compared with; null if there was none. */
  last_run: string | null;
  last_rows: number | null;
  last_bytes: number | null;
  last_path: string | null;
  /** The new watermark if the payload is approved; null if the source has none. */
  reading: string | null;
  watermark: string | null;
}
