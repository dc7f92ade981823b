import type { Generated } from 'kysely';

export interface OutboxTable {
  id: Generated<number>;
  run: string;
  job: string;
  destination: string;
  url: string;
  /** ID of the target's client. Empty if the target has none. */
  client_id: string;
  instance: string;
  sha256: string;
  path: string;
  bytes: number;
  row_count: number;
  format: string;
  /** The options that the payload was written with, as JSON. They're needed to read it back. */
  format_options: Generated<string>;
  media_type: string;
  as_of: number;
  always: number;
  state: OutboxState;
  attempts: number;
  /** Number of consecutive attempts whose process died. Not counted in `attempts`. */
  crashes: Generated<number>;
  /**
   * How many of `attempts` failed although the service accepted other payloads. This means that the payload causes the
   * failures.
   */
  faults: Generated<number>;
  last_attempt_at: number | null;
  /** Earliest time of the next attempt. For a delivered payload, earliest time of the resend. */
  next_attempt_at: number | null;
  /**
   * When an attempt last ended without a response, which means that the service may still process it. If the end of the
   * last attempt isn't recorded, that attempt isn't considered here yet.
   */
  unanswered_at: number | null;
  code: string | null;
  message: string | null;
  owed_at: number;
  /**
   * Since when the instance has been waiting for this data or older data. A payload takes over this time from the
   * payloads that it supersedes.
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
  /**
   * 1 if it's known that the instance has these contents. 0 if the result of the last request to the instance is
   * unknown.
   */
  certain: number;
  /** When the newest data that Sluice ever tried to send to the instance was read, whether or not the data arrived. */
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
  /** The run of the payload that this payload was compared with. Null if there was none. */
  last_run: string | null;
  last_rows: number | null;
  last_bytes: number | null;
  last_path: string | null;
  /** The fingerprint of the watermark that is set if the payload is approved. Null if the source has no watermark. */
  reading: string | null;
  /** The watermark that is set if the payload is approved. Null if the source has no watermark. */
  watermark: string | null;
}
