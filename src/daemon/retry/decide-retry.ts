import type { RetryRule } from '../../config/config.ts';
import { exponentialMs } from '../../lib/backoff.ts';
import { countOf } from '../../lib/count-text.ts';
import type { Problem } from '../../lib/problem.ts';
import { spanText } from '../../lib/span.ts';
import { instantText } from '../../lib/time-text.ts';
import { shareOf } from '../../schedule/spread.ts';

/**
 * Transient errors that aren't retried. Either another run is in progress, a person must act, or another component,
 * such as `DiskRetries` for a full disk, already waits for the problem to end.
 */
const waitedForElsewhere =
  /^(JOB_BUSY|LOGIN_BUSY|CALL_AMBIGUOUS|ACCOUNT_PAUSED|INSTALLATION_CHANGED|DISK_.+|STATE_.+)$/;

/** Whether a run that ended with this problem may be retried. */
export const isPassing = ({ family, code }: Problem): boolean =>
  family === 'try_later' && !waitedForElsewhere.test(code);

/** A failed attempt, with times in epoch milliseconds. */
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
  /** When the job fires next; null: it has no further firing. */
  readonly nextFiring: number | null;
  /** Seed for the random half of the wait. The same seed always results in the same wait. */
  readonly seed: string;
}

export type RetryDecision =
  /** When the next attempt begins (`at`), and the time from which no attempt may begin (`until`). */
  | { readonly at: number; readonly until: number }
  /** No further attempt is made; `why` is absent if there's nothing to report. */
  | { readonly at?: undefined; readonly why?: string };

/**
 * Decides whether and when a run is retried, with exponential backoff and equal jitter. No other code decides this. The
 * wait doubles from `first` to `longest`, half of each wait is fixed and half is random, and no wait is shorter than
 * the source requested. No attempt begins at or after the next firing, or more than `within` after the first attempt.
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
 * No one knows when a vendor's daily limit resets, so the run gets a single retry, as late as possible. If the job
 * fires before then, there is no retry.
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
