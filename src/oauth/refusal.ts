import { Problem } from '../lib/problem.ts';
import { excerpt } from '../lib/redact.ts';
import type { OAuthDescription } from '../sdk/oauth.ts';

/** What the refusal of a token request means: the grant has ended, our request was wrong, or it's unknown. */
export type RefusalReason = 'ended' | 'client' | 'unknown';

interface RefusalOptions {
  readonly error: string;
  readonly message: string;
  readonly status: number;
  readonly meaning: RefusalReason;
  readonly isOfLogin?: boolean;
  readonly clockAhead?: number | undefined;
  readonly next?: string;
}

/** A permanent error response from a token endpoint. */
export class TokenRefusal extends Error {
  readonly error: string;
  readonly status: number;
  readonly meaning: RefusalReason;
  /** Whether the secret or the grant itself was refused, and not the scope, grant type or request. */
  readonly isOfLogin: boolean;
  /** How far the vendor's clock is ahead of ours, in milliseconds; undefined if the response had no date. */
  readonly clockAhead: number | undefined;
  /** How to fix the config, if the response shows it. */
  readonly next: string | undefined;

  constructor(given: RefusalOptions) {
    super(given.message);
    this.name = 'Refusal';
    this.error = given.error;
    this.status = given.status;
    this.meaning = given.meaning;
    this.isOfLogin = given.isOfLogin ?? false;
    this.clockAhead = given.clockAhead;
    this.next = given.next;
  }
}

/** Error codes that mean that the grant has ended (RFC 6749 section 5.2, OpenID Connect Core section 3.1.2.6). */
const ended = ['invalid_grant', 'interaction_required', 'login_required', 'consent_required', 'access_denied'];
/** Error codes that mean that the config is wrong, but the grant is still valid (RFC 6749 section 5.2, RFC 8707). */
const client = [
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_request',
  'invalid_target',
];

/** Parses a token endpoint's error response, in the formats that vendors use. */
export function readRefusal(
  answer: Readonly<Record<string, unknown>>,
  given: { status: number; description: OAuthDescription; clockAhead?: number },
): TokenRefusal {
  const { error } = answer;
  const inner = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : answer;
  const code = firstText(error, inner.code, inner.type, answer.status, answer.error_code) ?? `status ${given.status}`;
  const message = firstText(answer.error_description, inner.message, answer.error_message, answer.message) ?? code;
  const { ended_codes: own = [] } = given.description;
  const isOfLogin = code === 'invalid_client' || code === 'invalid_grant' || own.includes(code);
  return new TokenRefusal({ ...given, error: code, message, meaning: meaningOf(code, own), isOfLogin });
}

function meaningOf(code: string, own: readonly string[]): RefusalReason {
  if (ended.includes(code) || own.includes(code)) return 'ended';
  return client.includes(code) ? 'client' : 'unknown';
}

function firstText(...values: readonly unknown[]): string | undefined {
  const found = values.find((value) => (typeof value === 'string' && value !== '') || typeof value === 'number');
  return found === undefined ? undefined : excerpt(String(found), 300);
}

/** The vendor is unreachable, busy, or returns an unexpected response: retry later. */
export function unreachable(
  host: string,
  given: { message: string; seen?: string; retryAfterMs?: number; cause?: unknown },
): Problem {
  return new Problem({
    code: 'LOGIN_UNREACHABLE',
    family: 'try_later',
    next: `check that ${host} is reachable; the login is still valid, and the next run tries again`,
    ...given,
  });
}
