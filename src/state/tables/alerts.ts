import type { Generated } from 'kysely';

/** Alerts that are open or have just been resolved, with one row per subject and occasion. */
export interface AlertsTable {
  /** What the alert is about: `job:orders`, `account:…`, `login:…`, `destination:…` or `scheduler`. */
  subject: string;
  occasion: string;
  /** Alerts in the same group are reported together. */
  group_key: string;
  cause: string;
  level: number;
  /** The highest level that has been reported; 0 if none has. */
  reported_level: number;
  /** When the condition began, as far as Sluice knows. */
  since: number;
  /** When the condition was first noticed. */
  opened_at: number;
  /** When the alert reached its current level. */
  changed_at: number;
  /** When the condition was found to be resolved. The row is deleted once this has been reported. */
  cleared_at: number | null;
  /** When the condition was last found, updated at most once a day. */
  seen_at: number;
  what: string;
  code: string | null;
}

export interface AlertGroupsTable {
  group_key: string;
  reported_at: number;
  /** Number of reports about the group since its last calm period. */
  step: number;
  /** 1 if one of these reports, other than the first, was about a new alert; otherwise 0. */
  recurred: number;
}

/** When each job that has never published data was first watched. */
export interface AlertWatchesTable {
  job: string;
  since: number;
}

export interface AlertMessagesTable {
  sequence: Generated<number>;
  /** ID of the message. All channels and attempts of a message share it. */
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
