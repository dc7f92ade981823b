import type { RetryRule } from '../../config/config.ts';
import { exponentialMs } from '../../lib/backoff.ts';
import { countOf } from '../../lib/count-text.ts';
import type { Problem } from '../../lib/problem.ts';
import { spanText } from '../../lib/span.ts';
import { instantText } from '../../lib/time-text.ts';
import { shareOf } from '../../schedule/spread.ts';

/**
 * Transient errors that aren't retried, because another run is in progress, a person must act, or something else
 * already waits until the problem is over, such as `DiskRetries` for a full disk.
 */
const waitedForElsewhere =
  /^(JOB_BUSY|LOGIN_BUSY|CALL_AMBIGUOUS|ACCOUNT_PAUSED|INSTALLATION_CHANGED|DISK_.+|STATE_.+)$/;

/** Whether a run that ended with this problem may be retried. */
export const isPassing = ({ family, code }: Problem): boolean =>
  family === 'try_later' && !waitedForElsewhere.test(code);

/** A failed attempt. Times are epoch milliseconds. */
export interface FailedAttempt {
  readonly rule: RetryRule;
  readonly problem: Problem;
  /** Number of failed attempts, including this one. */
  readonly attempt: number;
  /** Waits before this attempt. */
  readonly waits: number;
  /** Start of the first attempt. */
  readonly since: number;
  readonly now: number;
  /** When the job fires next; null: never. */
  readonly nextFiring: number | null;
  /** Seed for the random half of the wait: the same seed yields the same wait. */
  readonly seed: string;
}

export type RetryDecision =
  /** When the next attempt begins, and the time from which no more attempts begin. */
  | { readonly at: number; readonly until: number }
  /** There are no more attempts; `why` is absent if there's nothing to report. */
  | { readonly at?: undefined; readonly why?: string };

/**
 * The only place that decides whether and when a run is retried: exponential backoff with equal jitter. The wait
 * doubles from `first` to `longest`, half of it fixed and half random, and is never shorter than the source requests.
 * No attempt begins at or after the next firing, or more than `within` after the first attempt.
 */
export function decideRetry(failed: FailedAttempt): RetryDecision {
  const { rule, problem, attempt, now, nextFiring } = failed;
  if (!isPassing(problem)) return {};
  if (rule.attempts !== undefined && attempt >= rule.attempts) {
    return { why: `no more retries after ${countOf(attempt, 'attempt')}` };
  }
  const until = Math.min(failed.since + rule.withinMs, nextFiring ?? Number.POSITIVE_INFINITY);
  if (problem.isDailyLimit && problem.retryAfterMs === undefined) return decideDaily(failed, until);
  const ownAt = now + waitMs(failed);
  const askedAt = now + (problem.retryAfterMs ?? 0);
  const at = Math.round(Math.max(ownAt, askedAt));
  if (at < until) return { at, until };
  if (askedAt > ownAt) {
    return { why: `the source asked Sluice to wait until ${instantText(askedAt)}; ${limitText(failed, until)}` };
  }
  return attempt === 1 ? {} : { why: overText(failed, until) };
}

/**
 * A vendor's daily limit resets at an unknown time, so only one attempt is made, as late as possible, and none if the
 * job fires earlier.
 */
function decideDaily(failed: FailedAttempt, until: number): RetryDecision {
  const { now, nextFiring, rule } = failed;
  if (until === nextFiring) return { why: `the daily allowance is used up; ${limitText(failed, until)}` };
  const isLate = now >= until - rule.firstMs;
  return isLate ? { why: overText(failed, until) } : { at: Math.round(until - waitMs({ ...failed, waits: 0 })), until };
}

function waitMs({ rule: { firstMs, longestMs: maxMs }, waits, seed }: FailedAttempt): number {
  return exponentialMs(waits, { firstMs, maxMs, jitter: 0.5 }, () => shareOf(seed));
}

function overText(failed: FailedAttempt, until: number): string {
  const { attempt, since } = failed;
  return `${countOf(attempt, 'attempt')} failed since ${instantText(since)}; ${limitText(failed, until)}`;
}

function limitText({ rule, nextFiring }: FailedAttempt, until: number): string {
  if (until === nextFiring) return `the next firing is at ${instantText(until)}`;
  return `attempts end at ${instantText(until)}, ${spanText(rule.withinMs)} after the first`;
}
