import type { Generated } from 'kysely';

/** Open and just resolved alerts, one row per subject and occurrence. */
export interface AlertsTable {
  /** `job:orders`, `account:…`, `login:…`, `destination:…`, `scheduler`. */
  subject: string;
  occasion: string;
  /** Alerts in the same group are reported together. */
  group_key: string;
  cause: string;
  level: number;
  /** The highest level that was reported; 0 if none was. */
  told: number;
  /** When the condition began, as far as known. */
  since: number;
  /** When it was first noticed. */
  opened_at: number;
  /** When it reached its current level. */
  changed_at: number;
  /** When it was found to be resolved; set until that is reported. */
  cleared_at: number | null;
  /** When the subject was last checked by a process that can check it. */
  seen_at: number;
  what: string;
  code: string | null;
}

export interface AlertGroupsTable {
  group_key: string;
  told_at: number;
  /** Number of reports since the last calm period. */
  step: number;
}

/** When each job that has never published anything was first watched. */
export interface AlertWatchesTable {
  job: string;
  since: number;
}

export interface AlertMessagesTable {
  sequence: Generated<number>;
  /** The same for all channels and attempts of a message. */
  id: string;
  channel: string;
  title: string;
  /** JSON, redacted. */
  body: string;
  state: AlertMessageState;
  made_at: number;
  attempts: number;
  next_at: number;
  settled_at: number | null;
  problem: string | null;
}

export type AlertMessageState = 'waiting' | 'sent' | 'given_up';
