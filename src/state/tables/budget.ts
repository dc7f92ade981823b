import type { Generated } from 'kysely';

export interface QuotaTable {
  account: string;
  /** YYYY-MM-DD in America/New_York. */
  day: string;
  used: number;
  /** Requests that others were seen to make on the same account. */
  others: Generated<number>;
  /** What the service says that the account may use on this day; null: it has not said. */
  allowance: number | null;
  /** When the service said that nothing is left, and until when that holds. */
  spent_at: number | null;
  spent_until: number | null;
}

export interface SendSlotsTable {
  account: string;
  slot: number;
  owner: string;
  boot: string;
  /** Null while the request is under way; then the monotonic instant from which the slot can be taken again. */
  free_at: number | null;
  /** Until when the request may still arrive (monotonic ms of `boot`); null: it has arrived, or can't any more. */
  arrives_by: number | null;
  ticket: string;
  /** The days that the request was paid on, between commas. */
  days: string;
}

export interface AccountsTable {
  account: string;
  paused_at: number;
  paused_until: number;
  /** Requests a second that the service was seen to take, and when that was seen; null: never less than asked. */
  slowed_to: number | null;
  slowed_at: number | null;
}

/** When the service was last asked what an account has used. */
export interface UsageChecksTable {
  account: string;
  checked_at: number;
  /** Why it will not tell us, where it will not. */
  refused: string | null;
}

/** Times in which a job ran less often than its schedule says. */
export interface ThrottledJobsTable {
  sequence: Generated<number>;
  job: string;
  /** Every n-th firing runs; 0: none. */
  every: number;
  /** One sentence for people. */
  says: string;
  since: number;
  until: number;
  /** Null while it holds, at most to `until`. */
  ended_at: number | null;
}
