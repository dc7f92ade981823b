/**
 * OAuth, described as data. A connector says how its vendor hands out tokens; walking a person through consent, keeping,
 * refreshing and revoking is the runner's work (`src/oauth`), and the connector only ever asks for a token to send.
 */

/** The ways to a token (RFC 6749, RFC 7523), and one that is no standard: swapping a token for a longer one. */
export type GrantKind = 'authorization_code' | 'client_credentials' | 'jwt_bearer' | 'password';

/**
 * A code that a person enters at the vendor's page on any other machine (RFC 8628). Vendors that had it before the RFC use
 * words of their own; where a field is absent, the vendor's word is the standard's.
 */
export interface DeviceCodes {
  /** Gives the code (section 3.1). */
  readonly url: string;
  /** Sent along when a code is asked for. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** What the token address calls this grant, and the field that the code stands in (section 3.4). */
  readonly grant_type?: string;
  readonly code_parameter?: string;
  /** Seconds that a code lives when the answer does not say. */
  readonly lifetime_seconds?: number;
}

/** How a vendor hands out tokens. Addresses may hold `{option}`, filled from the options of the source. */
export interface OAuthDescription {
  /** The grants that this vendor offers, the usual one first. */
  readonly grants: readonly GrantKind[];
  /** Where a person consents; only for `authorization_code`. */
  readonly authorize_url?: string;
  readonly token_url: string;
  /** For machines without a browser, where the vendor has it; beside `authorization_code`. */
  readonly device?: DeviceCodes;
  /** Where a token is revoked (RFC 7009), where the vendor has such an address. */
  readonly revoke_url?: string;
  /** Send a PKCE challenge (RFC 7636, S256). */
  readonly pkce?: boolean;
  readonly scopes?: readonly string[];
  /** Asked for as well where a person consents, such as the scope that brings a refresh token. */
  readonly person_scopes?: readonly string[];
  /** Between scopes; a space unless said otherwise. */
  readonly scope_separator?: ' ' | ',';
  /** Sent along when a person is asked for consent, such as `access_type: offline`. */
  readonly authorize_parameters?: Readonly<Record<string, string>>;
  /** Sent along with every token request. */
  readonly token_parameters?: Readonly<Record<string, string>>;
  /** Where the token request carries its fields: a form body unless said otherwise. */
  readonly token_request?: 'form' | 'json' | 'query';
  /** Where the client's id and secret stand in a token request: in the body unless said otherwise. */
  readonly client_authentication?: 'body' | 'basic';
  /** The method of token requests: POST unless said otherwise. */
  readonly token_method?: 'POST' | 'GET';
  /**
   * `rotating`: every refresh gives a new refresh token and ends the old one, so the new one is on disk before anything
   * else happens. `none`: there is no refresh token; when the token ends, a person must consent again.
   */
  readonly refresh: 'static' | 'rotating' | 'none';
  /** What the vendor calls it when a grant has ended, beside the standard's `invalid_grant`. */
  readonly ended_codes?: readonly string[];
  /** Where refresh tokens are used up, when not `token_url`. */
  readonly refresh_url?: string;
  /** Seconds that a token lives when the answer does not say. Without it such a token counts as not expiring. */
  readonly lifetime_seconds?: number;
  /** The field of the token answer with the seconds that the token lives, when it is not `expires_in`. */
  readonly lifetime_field?: string;
  /** The field of the token answer that tells a person whose token it is, such as an account's address. */
  readonly who_field?: string;
  /** Swaps the first, short token for a long one by another call of the token address (Facebook). */
  readonly exchange?: { readonly parameters: Readonly<Record<string, string>>; readonly token_parameter: string };
  /** Fields of the token answer that the connector needs later, such as `instance_url`. */
  readonly keep?: readonly string[];
  /** For `jwt_bearer`: how the assertion is signed and what it says beside issuer, audience and times. */
  readonly assertion?: {
    readonly algorithm: 'RS256' | 'HS256';
    readonly audience?: string;
    readonly claims?: Readonly<Record<string, string>>;
    readonly lifetime_seconds?: number;
  };
}

/** A token that is good now, and what came with it. */
export interface Token {
  readonly access_token: string;
  /** The fields that the description wanted kept. */
  readonly kept: Readonly<Record<string, string>>;
  /** The id of the app that it was given to, which some vendors want beside it. */
  readonly client_id?: string;
}

/** Access tokens for a connector with an OAuth description, refreshed by the runner across processes. */
export interface TokenSource {
  /**
   * A token good for at least the next minute; refreshed first where needed. Cheap: ask before every request.
   * @throws Problem of family `login` when only a person can help, `try_later` when the vendor cannot be reached.
   */
  token(): Promise<Token>;
  /** Reports that the vendor refused this token, so that the next `token()` returns a new one. */
  refused(token: Token): Promise<void>;
}
