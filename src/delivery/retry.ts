import { exponentialMs } from '../lib/backoff.ts';
import { isPassingStatus } from '../lib/passing-answer.ts';
import { type Family, Problem } from '../lib/problem.ts';
import { redact } from '../lib/redact.ts';
import type { EnvelopeAnswer } from './answer.ts';

/**
 * The next step after an attempt.
 * - `settle`: the request succeeded.
 * - `retry`: try again after a backoff; the attempt counts.
 * - `pause`: the account was rate-limited and pauses for a while; the attempt doesn't count.
 * - `away`: the destination is unreachable and gets no requests for a while; the attempt doesn't count.
 * - `wait_for_day`: the daily allowance is used up; the attempt doesn't count.
 * - `login`: the credentials were refused, and no requests are sent until they're corrected; the attempt doesn't count.
 * - `dead`: a retry would fail in the same way.
 */
export type DecisionAction = 'settle' | 'retry' | 'pause' | 'away' | 'wait_for_day' | 'login' | 'dead';

/** The outcome of one request, with or without a response. */
export type RequestOutcome = { readonly answer: EnvelopeAnswer } | { readonly error: unknown };

/** What to do after a request with a given outcome. */
export interface Decision {
  readonly action: DecisionAction;
  /** The problem; absent if the request succeeded. */
  readonly problem?: Problem;
  /** The wait that the service requested. */
  readonly retryAfterMs?: number;
  /** True if it's unknown whether the service processed the request. */
  readonly ambiguous: boolean;
}

interface Rule {
  readonly when: (answer: EnvelopeAnswer) => boolean;
  readonly action: DecisionAction;
  readonly code: string;
  readonly family: Family;
  /** What happened. The service's message is appended to this text. */
  readonly message: string;
  readonly next?: string;
  readonly ambiguous?: boolean;
}

/**
 * If the service requests a longer wait than this, the daily limit was reached. The per-second limit never requires
 * such a wait.
 */
const dailyRetryAfterMs = 15 * 60_000;

const is =
  (...statuses: readonly number[]) =>
  ({ status }: EnvelopeAnswer) =>
    statuses.includes(status);
const isDaily = ({ status, errorCode, retryAfterMs }: EnvelopeAnswer) =>
  status === 429 && (errorCode === 'daily_limit_reached' || (retryAfterMs ?? 0) > dailyRetryAfterMs);

/** The account limit that was reached according to the response; undefined if none was. */
export function limitReached(answer: EnvelopeAnswer): 'second' | 'day' | undefined {
  if (answer.status !== 429) return undefined;
  return isDaily(answer) ? 'day' : 'second';
}

/** Rules that map responses to actions; the first matching rule applies. */
const rules: readonly Rule[] = [
  {
    when: ({ status, complete }) => status < 300 && !complete,
    action: 'retry',
    code: 'DELIVERY_NO_ANSWER',
    family: 'try_later',
    message: 'The response was truncated',
    ambiguous: true,
  },
  {
    when: ({ status, recognised }) => status < 300 && !recognised,
    action: 'retry',
    code: 'DELIVERY_STRANGE_ANSWER',
    family: 'try_later',
    message: 'The response is not from the service; it may come from a proxy or a login page',
    next: "check the destination's url",
    ambiguous: true,
  },
  {
    when: ({ status }) => status < 300,
    action: 'dead',
    code: 'DELIVERY_REFUSED',
    family: 'job',
    message: 'The service reported a failure',
  },
  {
    when: ({ status }) => status < 400,
    action: 'dead',
    code: 'DELIVERY_REDIRECTED',
    family: 'config',
    message: 'The service has moved; redirects are not followed',
    next: "set the destination's url to the service's current address",
  },
  {
    when: is(401),
    action: 'login',
    code: 'LOGIN_NEEDED',
    family: 'login',
    message: 'The service refused the credentials, or the user lacks a permission',
    next: "check the destination's key or password and the role of its user, then run the job again",
  },
  {
    when: is(403),
    action: 'dead',
    code: 'DELIVERY_FORBIDDEN',
    family: 'job',
    message: 'The service denied the request; the data source may be disabled',
    next: 'enable the data source in the service, then run the job again',
  },
  {
    when: is(404, 410),
    action: 'dead',
    code: 'DELIVERY_NOT_FOUND',
    family: 'config',
    message: 'The target does not exist in the service',
    next: 'if the job declares its data source, it was deleted: run "sluice apply" to recreate it; otherwise check the target\'s id and client_id, and the destination\'s url',
  },
  {
    when: ({ status, errorCode }) => status === 413 || errorCode === 'data_too_large',
    action: 'dead',
    code: 'DELIVERY_TOO_LARGE',
    family: 'job',
    message: 'The payload is too large for the service',
    next: "select fewer rows or columns, and set the destination's upload_limit_bytes to the limit of the service",
  },
  {
    when: isDaily,
    action: 'wait_for_day',
    code: 'QUOTA_SPENT',
    family: 'quota',
    message: 'No requests are left today',
  },
  { when: is(429), action: 'pause', code: 'RATE_LIMITED', family: 'try_later', message: 'Rate-limited by the service' },
  {
    when: ({ status }) => status < 500 && isPassingStatus(status),
    action: 'retry',
    code: 'DELIVERY_FAILED',
    family: 'try_later',
    message: 'The service timed out waiting for the request',
    ambiguous: true,
  },
  {
    when: ({ status }) => !isPassingStatus(status),
    action: 'dead',
    code: 'DELIVERY_REFUSED',
    family: 'job',
    message: 'The service refused the request',
    next: 'fix the cause that the service reported, then run the job again',
  },
  {
    when: () => true,
    action: 'retry',
    code: 'DELIVERY_FAILED',
    family: 'try_later',
    message: 'The service failed',
    ambiguous: true,
  },
];

/** Decides what to do after an attempt, and returns the problem if it failed. */
export function decide(outcome: RequestOutcome): Decision {
  if ('error' in outcome) return unanswered(outcome.error);
  const { answer } = outcome;
  if (answer.success) return { action: 'settle', ambiguous: false };
  const rule = rules.find(({ when }) => when(answer)) as Rule;
  const { action, code, family, message, next, ambiguous = false } = rule;
  const words = answer.words === '' ? '' : `: ${answer.words}`;
  const { retryAfterMs } = answer;
  const problem = new Problem({
    code,
    family,
    message: `${message}${words}`,
    seen: `status ${answer.status}${answer.errorCode === undefined ? '' : ` ${answer.errorCode}`}`,
    where: { stage: 'deliver' },
    next,
    retryAfterMs,
  });
  return { action, problem, ambiguous, retryAfterMs };
}

/** Error code of a request that this process decided not to send. */
export const notSent = 'ENOTSENT';

/** Error codes after which no part of the request was sent, mostly of failed connections. */
const unreached = new Set([
  notSent,
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Decides what to do if there was no response. Unless the connection failed, the service may have processed the
 * request, so the outcome is ambiguous, and the request is repeated.
 */
function unanswered(error: unknown): Decision {
  const { code = '', message = String(error) } = (error ?? {}) as { code?: string; message?: string };
  const problem = new Problem({
    code: 'DELIVERY_NO_ANSWER',
    family: 'try_later',
    message: `No response from the service: ${redact(message)}`,
    where: { stage: 'deliver' },
    ...(code === '' ? {} : { seen: code }),
    next: "check the destination's url, and that this machine can reach it; to test the connection: sluice check --connect",
    cause: error,
  });
  if (unreached.has(code)) return { action: 'away', problem, ambiguous: false };
  return { action: 'retry', problem, ambiguous: true };
}

const backoff = { firstMs: 1000, maxMs: 15 * 60_000, jitter: 1 };

/**
 * The wait before the next attempt: exponential backoff with full jitter, so that requests that failed together aren't
 * retried together. The wait is never shorter than the service requested.
 */
export function backoffMs(attempts: number, retryAfterMs = 0, random = Math.random): number {
  return Math.max(retryAfterMs, 100 + exponentialMs(attempts, backoff, random));
}

/**
 * If the service requests a wait, the per-second limit was reached, possibly because of other programs, so it may
 * happen repeatedly. Pauses then have a lower maximum. They still have to grow, because each refused request counts
 * against the daily limit.
 */
const limitedBackoff = { ...backoff, maxMs: 2 * 60_000 };

/** How long an account pauses after this many consecutive 429 responses. */
export function pauseMs(refusals: number, retryAfterMs: number | undefined, random = Math.random): number {
  if (retryAfterMs === undefined) return backoffMs(refusals, 0, random);
  return Math.max(retryAfterMs, 100 + exponentialMs(refusals, limitedBackoff, random));
}
