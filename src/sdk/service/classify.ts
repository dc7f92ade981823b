import { type PassingAnswer, passingAnswer, retryAfterMs } from '../../lib/passing-answer.ts';
import { blamedBy } from '../http/blamed-by.ts';
import { pickAll, type ServiceAnswer } from './answer.ts';
import { textOf } from './exact-json.ts';
import { secondsOf } from './moment.ts';
import { valuesAt } from './path.ts';
import type { AnswerKind, ErrorRule, Match, WaitTime } from './rules.ts';

/** A response's class, with the rule that matched. */
export interface Classification {
  readonly kind: AnswerKind;
  readonly rule: ErrorRule | undefined;
  /** The wait that the service requests, in milliseconds; undefined if the service requests none. */
  readonly waitMs: number | undefined;
  /** Whether the rule or the response itself indicates a rate limit. */
  readonly isRateLimit: boolean;
}

/** Classifies a response by the first matching rule; if no rule matches, by the HTTP status. */
export function classify(answer: ServiceAnswer, rules: readonly ErrorRule[], now: number): Classification {
  const rule = rules.find((one) => fits(one, answer));
  const passing = passingAnswer(answer.status, answer.headers, now);
  const verdict = rule?.verdict ?? classifyByStatus(answer, passing);
  const ruleMs = rule?.wait === undefined ? undefined : waitOf(rule.wait, answer, now);
  const requestedMs = passing?.retryAfterMs ?? retryAfterMs(answer.headers, now);
  // A wait in the response takes precedence over the rule's fixed wait.
  const waitMs = typeof rule?.wait === 'string' ? (requestedMs ?? ruleMs) : (ruleMs ?? requestedMs);
  return { kind: verdict, rule, waitMs, isRateLimit: rule?.limit === true || passing?.isRateLimit === true };
}

function classifyByStatus({ status, text }: ServiceAnswer, passing: PassingAnswer | undefined): AnswerKind {
  if (status < 300) return 'ok';
  const blamed = blamedBy({ status, text });
  if (blamed === 'server' || (passing !== undefined && blamed !== 'request')) return 'wait';
  if (status === 401) return 'login';
  return status === 403 ? 'permission' : 'fail';
}

function fits(rule: ErrorRule, answer: ServiceAnswer): boolean {
  const { status, body = {}, headers = {} } = rule;
  if (status !== undefined && ![status].flat().includes(answer.status)) return false;
  return (
    Object.entries(body).every(([path, match]) => valuesAt(answer.body, path).some((value) => matches(value, match))) &&
    Object.entries(headers).every(([name, match]) => matches(answer.headers[name.toLowerCase()], match))
  );
}

/** Whether a value matches a rule. `true` matches any value. */
export function matches(value: unknown, match: Match): boolean {
  const text = textOf(value);
  if (match === true) return text !== undefined && value !== false;
  if (text === undefined) return false;
  if (match instanceof RegExp) return match.test(text);
  return [match].flat().some((one) => String(one) === text);
}

/** The wait that the response requests, in milliseconds; undefined if it requests none. */
export function waitOf(
  wait: WaitTime,
  answer: Pick<ServiceAnswer, 'headers' | 'body'>,
  now: number,
): number | undefined {
  if (typeof wait === 'string') return secondsOf(wait) * 1000;
  // Google uses the duration format of Protocol Buffers: `30s`.
  const numbers = pickAll(answer, wait.at).map((value) =>
    Number(textOf(value)?.replace(/^([\d.]+)s$/, '$1') ?? 'none'),
  );
  const found = Math.max(...numbers.filter((number) => Number.isFinite(number)));
  if (!Number.isFinite(found)) return undefined;
  const factor = { seconds: 1000, minutes: 60_000, milliseconds: 1, epoch: 1000, epoch_ms: 1 }[wait.unit];
  const milliseconds = found * factor;
  return Math.max(0, wait.unit.startsWith('epoch') ? milliseconds - now : milliseconds);
}
