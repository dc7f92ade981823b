import type { Generated } from 'kysely';

/** What is wrong now, or has just ceased to be: one row a subject and occasion. */
export interface AlertsTable {
  /** `job:orders`, `account:…`, `login:…`, `destination:…`, `scheduler`. */
  subject: string;
  occasion: string;
  /** Those of one group are told together. */
  group_key: string;
  cause: string;
  level: number;
  /** The highest level that was reported; 0: none. */
  told: number;
  /** Since when it is so, as far as is known. */
  since: number;
  /** When it was first noticed. */
  opened_at: number;
  /** When it was noticed at its present level. */
  changed_at: number;
  /** When it was found to be resolved, until that is reported. */
  cleared_at: number | null;
  /** When a process that can check the subject last did. */
  seen_at: number;
  what: string;
  code: string | null;
}

export interface AlertGroupsTable {
  group_key: string;
  told_at: number;
  /** How many times it was told without a calm in between. */
  step: number;
}

/** Jobs that have never published anything: since when that is known. */
export interface AlertWatchesTable {
  job: string;
  since: number;
}

export interface AlertMessagesTable {
  sequence: Generated<number>;
  /** The same for all channels that a message goes to, and for every attempt. */
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
