import type { AnswerPath } from './answer.ts';

/** The class of a response, which determines the next step. */
export type AnswerKind =
  /** A success. */
  | 'ok'
  /** No records, and no error. */
  | 'empty'
  /** Retry after a pause. */
  | 'wait'
  /** The token expired: get a new one, then retry. */
  | 'login'
  /** The daily quota is used up: this run fails, and a later one continues. */
  | 'daily'
  /** The account or the token lacks the permission. */
  | 'permission'
  /** An option is wrong. */
  | 'config'
  /** The run fails. */
  | 'fail'
  /** Skip this partition and continue with the next one. */
  | 'ignore'
  /** The resume token has expired: read everything. */
  | 'reset'
  /** Only for polls: not ready yet. */
  | 'pending';

/** A rule: the responses that it matches, and their class. The first match applies. */
export interface ErrorRule {
  /** Any of these statuses; absent: every status, including 200. */
  readonly status?: number | readonly number[];
  /** All must match: the value at the path equals it, is in the list, matches the pattern, or (`true`) exists. */
  readonly body?: Readonly<Record<string, Match>>;
  readonly headers?: Readonly<Record<string, Match>>;
  readonly verdict: AnswerKind;
  /** How long to wait; default: a backoff. `Retry-After` takes precedence over a fixed time. */
  readonly wait?: WaitTime;
  /** Rate-limited with a status other than 429: the pause is longer than vendors' usual windows. */
  readonly limit?: true;
  /** Path of the vendor's message, which is shown instead of the first part of the response. */
  readonly said?: AnswerPath;
  /** The message for the user, and the fix. */
  readonly say?: string;
  readonly next?: string;
}

/** A condition: the value equals it, matches the pattern, is in the list, or (`true`) exists. */
export type Match = string | number | boolean | RegExp | readonly (string | number)[];

/** A duration such as `30s`, or the path in the response of the wait or its end time. */
export type WaitTime =
  | string
  | { readonly at: AnswerPath; readonly unit: 'seconds' | 'minutes' | 'milliseconds' | 'epoch' | 'epoch_ms' };

/** The vendor's rate limits. Runs of one process with the same source share them. */
export interface Budget {
  /** Maximum number of requests within any such window. */
  readonly rates?: readonly { readonly requests: number; readonly within: string }[];
  /** Maximum number of concurrent requests. */
  readonly at_once?: number;
  readonly gauges?: readonly Gauge[];
}

/** A value in responses that shows the remaining quota; if it is low, requests pause. */
export interface Gauge {
  /** The number left, the number used, `used/limit` (also `name=used/limit`), or JSON. */
  readonly at: AnswerPath;
  readonly means: 'left' | 'percent_used' | 'used/limit';
  /** Pause if fewer than this are left (`left`; default: 1), or if a larger share than this is used (default: 0.9). */
  readonly threshold?: number;
  readonly pause: WaitTime;
}
