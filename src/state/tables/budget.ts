import type { Generated } from 'kysely';

export interface QuotaTable {
  account: string;
  /** YYYY-MM-DD in America/New_York. */
  day: string;
  used: number;
  /** Requests that others are known to have made with the same account. */
  others: Generated<number>;
  /** The account's allowance for this day, as the service reported it; null if it hasn't. */
  allowance: number | null;
  /** When the service reported the allowance as used up, and until when that holds. */
  spent_at: number | null;
  spent_until: number | null;
}

export interface SendSlotsTable {
  account: string;
  slot: number;
  owner: string;
  boot: string;
  /** Null while the request is in flight, then the monotonic time from which the slot can be taken again. */
  free_at: number | null;
  /**
   * Latest time at which the request may still arrive (monotonic ms of `boot`); null if it has arrived or can no longer
   * arrive.
   */
  arrives_by: number | null;
  ticket: string;
  /** The days that the request was charged to, separated by commas. */
  days: string;
}

export interface AccountsTable {
  account: string;
  paused_at: number;
  paused_until: number;
  /** Request rate per second that the service accepted, and when that was seen; null if the rate was never reduced. */
  slowed_to: number | null;
  slowed_at: number | null;
}

/** When the service was last asked for an account's usage. */
export interface UsageChecksTable {
  account: string;
  checked_at: number;
  /** Why the service refuses to report the usage; null if it doesn't refuse. */
  refused: string | null;
}

export interface ThrottledJobsTable {
  sequence: Generated<number>;
  job: string;
  /** Every n-th firing runs; 0 if none does. */
  every: number;
  /** One sentence for people. */
  says: string;
  since: number;
  until: number;
  /** When the throttle ended; null while it's in effect, which is until `until` at the latest. */
  ended_at: number | null;
}
