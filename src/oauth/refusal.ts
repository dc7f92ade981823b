import { Problem } from '../lib/problem.ts';
import { excerpt } from '../lib/redact.ts';
import type { OAuthDescription } from '../sdk/oauth.ts';

/** What a refusal of a token request means for the grant: it has ended, we asked wrongly, or nothing is known. */
export type RefusalReason = 'ended' | 'client' | 'unknown';

interface RefusalOptions {
  readonly error: string;
  readonly said: string;
  readonly status: number;
  readonly meaning: RefusalReason;
  readonly isOfLogin?: boolean;
  readonly clockAhead?: number;
}

/** A vendor's answer that is no token and not a fault of the moment. */
export class TokenRefusal extends Error {
  readonly error: string;
  readonly status: number;
  readonly meaning: RefusalReason;
  /** The secret or the grant itself was refused, and not the scope, the kind of grant or the request. */
  readonly isOfLogin: boolean;
  /** How far the vendor's clock is ahead of ours, in milliseconds, where its answer had a date. */
  readonly clockAhead: number | undefined;

  constructor(given: RefusalOptions) {
    super(given.said);
    this.name = 'Refusal';
    this.error = given.error;
    this.status = given.status;
    this.meaning = given.meaning;
    this.isOfLogin = given.isOfLogin ?? false;
    this.clockAhead = given.clockAhead;
  }
}

/** RFC 6749 section 5.2 and OpenID Connect Core section 3.1.2.6: the grant itself is no good any more. */
const ended = ['invalid_grant', 'interaction_required', 'login_required', 'consent_required', 'access_denied'];
/** RFC 6749 section 5.2, RFC 8707: the config is at fault; the grant is as good as it was. */
const client = [
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_request',
  'invalid_target',
];

/** What a token endpoint said instead of a token, in the shapes that vendors use. */
export function readRefusal(
  answer: Readonly<Record<string, unknown>>,
  given: { status: number; description: OAuthDescription; clockAhead?: number },
): TokenRefusal {
  const { error } = answer;
  const inner = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : answer;
  const code = firstText(error, inner.code, inner.type, answer.status, answer.error_code) ?? `status ${given.status}`;
  const said = firstText(answer.error_description, inner.message, answer.error_message, answer.message) ?? code;
  const { ended_codes: own = [] } = given.description;
  const isOfLogin = code === 'invalid_client' || code === 'invalid_grant' || own.includes(code);
  return new TokenRefusal({ ...given, error: code, said, meaning: meaningOf(code, own), isOfLogin });
}

function meaningOf(code: string, own: readonly string[]): RefusalReason {
  if (ended.includes(code) || own.includes(code)) return 'ended';
  return client.includes(code) ? 'client' : 'unknown';
}

function firstText(...values: readonly unknown[]): string | undefined {
  const found = values.find((value) => (typeof value === 'string' && value !== '') || typeof value === 'number');
  return found === undefined ? undefined : excerpt(String(found), 300);
}

/** The vendor is away, busy or answers with something else than it should: it is asked again later. */
export function unreachable(
  host: string,
  given: { message: string; seen?: string; retryAfterMs?: number; cause?: unknown },
): Problem {
  return new Problem({
    code: 'LOGIN_UNREACHABLE',
    family: 'try_later',
    next: `nothing is lost: the login is still valid, and the next run tries again; check that ${host} is reachable`,
    ...given,
  });
}
