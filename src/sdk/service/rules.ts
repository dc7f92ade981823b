import type { AnswerPath } from './answer.ts';

/** The class of a response, which determines the next step. */
export type AnswerKind =
  /** A success. */
  | 'ok'
  /** No records, and no error. */
  | 'empty'
  /** Retry after a pause. */
  | 'wait'
  /** The token has expired: get a new one, then retry. */
  | 'login'
  /** The daily quota is used up: this run fails, and a later run continues. */
  | 'daily'
  /** The account or the token lacks the required permission. */
  | 'permission'
  /** An option is wrong. */
  | 'config'
  /** The run fails. */
  | 'fail'
  /** Skip this partition and continue with the next one. */
  | 'ignore'
  /** The resume token has expired: read everything again. */
  | 'reset'
  /** Only for polls: not ready yet. */
  | 'pending';

/** A rule that matches responses and determines their class. The first matching rule applies. */
export interface ErrorRule {
  /** The status must be one of these. If absent, the rule applies to every status, including 200. */
  readonly status?: number | readonly number[];
  /** The value at each of these paths must meet its condition. */
  readonly body?: Readonly<Record<string, Match>>;
  readonly headers?: Readonly<Record<string, Match>>;
  readonly verdict: AnswerKind;
  /**
   * How long to wait; by default, exponential backoff applies. A `Retry-After` header takes precedence over a fixed
   * time.
   */
  readonly wait?: WaitTime;
  /**
   * True if the response reports a rate limit with a status other than 429. The pause then exceeds vendors' usual
   * windows.
   */
  readonly limit?: true;
  /** Path of the vendor's message, which is shown instead of the first part of the response. */
  readonly messageAt?: AnswerPath;
  /** The message for the user; `next` says how to fix the problem. */
  readonly message?: string;
  readonly next?: string;
}

/** A condition for a value: it must equal this value, match this pattern, be in this list or, for `true`, exist. */
export type Match = string | number | boolean | RegExp | readonly (string | number)[];

/** A duration such as `30s`, or the response path that contains the wait or the time when it ends. */
export type WaitTime =
  | string
  | { readonly at: AnswerPath; readonly unit: 'seconds' | 'minutes' | 'milliseconds' | 'epoch' | 'epoch_ms' };

/** The vendor's rate limits. All of a process's runs that read the same source share them. */
export interface Budget {
  /** Maximum number of requests within any window of this length: a duration such as `30s`, or seconds. */
  readonly rates?: readonly { readonly requests: number; readonly within: string | number }[];
  /** Maximum number of concurrent requests. */
  readonly at_once?: number;
  readonly gauges?: readonly Gauge[];
}

/** A value in responses that shows the remaining quota. If the quota is low, requests pause. */
export interface Gauge {
  /**
   * What the value contains: the number of requests left, the number used, `used/limit` (also `name=used/limit`), or
   * JSON.
   */
  readonly at: AnswerPath;
  readonly means: 'left' | 'percent_used' | 'used/limit';
  /**
   * Requests pause if fewer than this number are left (`left`; default: 1), or if more than this share is used
   * (default: 0.9).
   */
  readonly threshold?: number;
  readonly pause: WaitTime;
}
