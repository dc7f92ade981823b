import type { OAuthDescription } from '../sdk/oauth.ts';

/** A vendor's response to a token request. */
export interface TokenResponse {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Wall-clock time at which the request was sent, which is the earliest possible start of the token's lifetime. */
  readonly askedAt: number;
  /** Absent if the token doesn't expire. */
  readonly lifetimeMs?: number;
  /** The granted scopes, separated by spaces; absent if the vendor doesn't report them. */
  readonly scopes?: string;
  /** The user's name or ID, if the vendor reports it. */
  readonly who?: string;
  /** Response fields that the connector needs later. */
  readonly kept: Readonly<Record<string, string>>;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Parses a vendor's response, tolerating common deviations: numbers as strings, scopes as a list, no type, no lifetime.
 */
export function readTokenResponse(
  answer: Fields,
  description: OAuthDescription,
  askedAt: number,
): TokenResponse | undefined {
  const accessToken = textOf(answer.access_token);
  if (accessToken === undefined) return undefined;
  const refreshToken = textOf(answer.refresh_token);
  const seconds = lifetimeOf(answer, description);
  const scopes = Array.isArray(answer.scope) ? answer.scope.join(' ') : textOf(answer.scope)?.replaceAll(',', ' ');
  const who = whoOf(answer, description);
  const wanted = (description.keep ?? []).map((name) => [name, scalarOf(answer[name])] as const);
  return {
    accessToken,
    askedAt,
    kept: Object.fromEntries(wanted.filter(([, value]) => value !== undefined)) as Record<string, string>,
    refreshToken,
    lifetimeMs: seconds === undefined ? undefined : seconds * 1000,
    scopes,
    who,
  };
}

/**
 * Without a lifetime, a token doesn't expire, unless the description says otherwise. Zero counts as no lifetime, because
 * otherwise each request would need a new token.
 */
function lifetimeOf(answer: Fields, { lifetime_field, lifetime_seconds }: OAuthDescription): number | undefined {
  const lifetime = answer[lifetime_field ?? 'expires_in'];
  const seconds = typeof lifetime === 'string' && /^\d+(\.\d+)?$/.test(lifetime) ? Number(lifetime) : lifetime;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? seconds : lifetime_seconds;
}

/**
 * The user to whom the token belongs. The ID token came directly from the vendor over TLS, so verifying its signature
 * would add nothing.
 */
function whoOf(answer: Fields, { who_field }: OAuthDescription): string | undefined {
  if (who_field !== undefined) return scalarOf(answer[who_field]);
  const claims = claimsOf(textOf(answer.id_token));
  return textOf(claims.email) ?? textOf(claims.preferred_username) ?? textOf(claims.sub);
}

function claimsOf(token: string | undefined): Fields {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as Fields) : {};
  } catch {
    return {};
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const scalarOf = (value: unknown): string | undefined => (typeof value === 'number' ? String(value) : textOf(value));
