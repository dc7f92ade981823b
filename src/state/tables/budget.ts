import type { Generated } from 'kysely';

export interface QuotaTable {
  account: string;
  /** The day in the America/New_York time zone, as YYYY-MM-DD. */
  day: string;
  used: number;
  /** Number of requests that other programs are known to have sent with the same account. */
  others: Generated<number>;
  /** The account's allowance for this day, as reported by the service. Null if the service hasn't reported it. */
  allowance: number | null;
  /** When the service reported that the allowance is used up. */
  spent_at: number | null;
  /** Until when the service's report holds. */
  spent_until: number | null;
}

export interface SendSlotsTable {
  account: string;
  slot: number;
  owner: string;
  boot: string;
  /** Monotonic time from which the slot can be taken again. Null while its request is in flight. */
  free_at: number | null;
  /**
   * Latest time at which the request may still arrive, in monotonic milliseconds of `boot`. Null if the request has
   * arrived or can no longer arrive.
   */
  arrives_by: number | null;
  ticket: string;
  /** The days to which the request was charged, separated by commas. */
  days: string;
}

export interface AccountsTable {
  account: string;
  paused_at: number;
  paused_until: number;
  /**
   * The rate to which the account was last slowed down, in requests per second. Null if it has never been slowed down.
   */
  slowed_to: number | null;
  /** When the account was last slowed down. */
  slowed_at: number | null;
}

/** When the service was last asked for each account's usage. */
export interface UsageChecksTable {
  account: string;
  checked_at: number;
  /** Why the service refused to report the account's usage. Null if it didn't refuse. */
  refused: string | null;
}

export interface ThrottledJobsTable {
  sequence: Generated<number>;
  job: string;
  /** Only every n-th firing runs. 0 means that no firing runs. */
  every: number;
  /** One sentence for people. */
  message: string;
  since: number;
  until: number;
  /** When the throttle was ended early. If null, it's in effect until `until`. */
  ended_at: number | null;
}
