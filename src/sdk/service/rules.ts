import type { AnswerPath } from './answer.ts';

/** Kind of an answer, which decides what happens next. */
export type AnswerKind =
  /** A good answer after all. */
  | 'ok'
  /** No records, and no fault. */
  | 'empty'
  /** Ask again, after a while. */
  | 'wait'
  /** The token expired: get a new one, then retry. */
  | 'login'
  /** The daily quota is used up: this run ends, a later one continues. */
  | 'daily'
  /** The account or the token may not do this. */
  | 'permission'
  /** An option is wrong. */
  | 'config'
  /** This run ends. */
  | 'fail'
  /** Nothing to be had for this partition: go on with the next. */
  | 'ignore'
  /** Our place is not kept any more: begin again from the start. */
  | 'reset'
  /** Only for polls: not ready yet. */
  | 'pending';

/** Which answers it is about, and what they mean. The first rule that fits decides. */
export interface ErrorRule {
  /** Any of these; absent: every status, 200 included. */
  readonly status?: number | readonly number[];
  /** All of these hold: the value at the path is it, is among them, matches, or (`true`) is there at all. */
  readonly body?: Readonly<Record<string, Match>>;
  readonly headers?: Readonly<Record<string, Match>>;
  readonly verdict: AnswerKind;
  /** How long to wait; an own growing pause where nothing is said or found. `Retry-After` comes before a fixed time. */
  readonly wait?: WaitTime;
  /** Too many requests, said with another status than 429: the pause outlasts the windows that vendors count in. */
  readonly limit?: true;
  /** Where the vendor's own words stand; the user is shown these instead of the beginning of the answer. */
  readonly said?: AnswerPath;
  /** What it means, for the user, and what to do about it. */
  readonly say?: string;
  readonly next?: string;
}

/** What a value is held against: it is equal, matches, is among these, or (`true`) is there at all. */
export type Match = string | number | boolean | RegExp | readonly (string | number)[];

/** A span such as `30s`, or where the answer says how long or until when. */
export type WaitTime =
  | string
  | { readonly at: AnswerPath; readonly unit: 'seconds' | 'minutes' | 'milliseconds' | 'epoch' | 'epoch_ms' };

/** What the vendor allows. Runs of one process that use the same source share it. */
export interface Budget {
  /** Never more than so many requests within any such span. */
  readonly rates?: readonly { readonly requests: number; readonly within: string }[];
  /** Requests under way at the same time. */
  readonly at_once?: number;
  readonly gauges?: readonly Gauge[];
}

/** Something in answers that tells how much is left; when it is too little we pause. */
export interface Gauge {
  /** A number left, a number used, `used/limit` (also `name=used/limit`), or JSON. */
  readonly at: AnswerPath;
  readonly means: 'left' | 'percent_used' | 'used/limit';
  /** Pause when fewer are left than this (`left`, 1), or when more than this share is used (0.9). */
  readonly threshold?: number;
  readonly pause: WaitTime;
}
