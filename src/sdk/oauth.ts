/**
 * OAuth, described as data. A connector describes how its vendor issues tokens. The runner (`src/oauth`) handles consent, storage,
 * refresh and revocation; the connector only requests a token to send.
 */

/** The grants (RFC 6749, RFC 7523), and a non-standard one: exchanging a token for a long-lived one. */
export type GrantKind = 'authorization_code' | 'client_credentials' | 'jwt_bearer' | 'password';

/**
 * The device flow: a person enters a code on the vendor's page, on any machine (RFC 8628). Vendors that had it before the RFC use
 * other names; absent fields have the standard name.
 */
export interface DeviceCodes {
  /** The device authorization endpoint (section 3.1). */
  readonly url: string;
  /** Additional parameters of the request for a code. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Name of the grant at the token endpoint, and of the field with the code (section 3.4). */
  readonly grant_type?: string;
  readonly code_parameter?: string;
  /** Lifetime of a code in seconds, if the response has none. */
  readonly lifetime_seconds?: number;
}

/** How a vendor issues tokens. URLs may contain `{option}`, filled from the source's options. */
export interface OAuthDescription {
  /** The grants of this vendor, the default first. */
  readonly grants: readonly GrantKind[];
  /** The authorization endpoint; only for `authorization_code`. */
  readonly authorize_url?: string;
  readonly token_url: string;
  /** For machines without a browser, if the vendor supports it; in addition to `authorization_code`. */
  readonly device?: DeviceCodes;
  /** The revocation endpoint (RFC 7009), if the vendor has one. */
  readonly revoke_url?: string;
  /** Send a PKCE challenge (RFC 7636, S256). */
  readonly pkce?: boolean;
  readonly scopes?: readonly string[];
  /** Additional scopes if a person consents, such as the scope for a refresh token. */
  readonly person_scopes?: readonly string[];
  /** Separator of scopes; default: a space. */
  readonly scope_separator?: ' ' | ',';
  /** Additional parameters of the consent URL, such as `access_type: offline`. */
  readonly authorize_parameters?: Readonly<Record<string, string>>;
  /** Additional parameters of every token request. */
  readonly token_parameters?: Readonly<Record<string, string>>;
  /** Location of the fields in the token request; default: a form body. */
  readonly token_request?: 'form' | 'json' | 'query';
  /** Location of client ID and secret in a token request; default: the body. */
  readonly client_authentication?: 'body' | 'basic';
  /** The method of token requests; default: POST. */
  readonly token_method?: 'POST' | 'GET';
  /**
   * `rotating`: every refresh returns a new refresh token and invalidates the old one, so the new one is stored on disk first.
   * `none`: there is no refresh token; when the token expires, a person must consent again.
   */
  readonly refresh: 'static' | 'rotating' | 'none';
  /** The vendor's error codes for an ended grant, besides the standard `invalid_grant`. */
  readonly ended_codes?: readonly string[];
  /** The endpoint for refreshes, if not `token_url`. */
  readonly refresh_url?: string;
  /** Lifetime of a token in seconds, if the response has none. Default: it never expires. */
  readonly lifetime_seconds?: number;
  /** The field of the token response with the lifetime in seconds, if it is not `expires_in`. */
  readonly lifetime_field?: string;
  /** The field of the token response that identifies the account, such as its email address. */
  readonly who_field?: string;
  /** Exchanges the first, short-lived token for a long-lived one with a second token request (Facebook). */
  readonly exchange?: { readonly parameters: Readonly<Record<string, string>>; readonly token_parameter: string };
  /** Fields of the token response that the connector needs later, such as `instance_url`. */
  readonly keep?: readonly string[];
  /** For `jwt_bearer`: the signature of the assertion and its claims besides issuer, audience and times. */
  readonly assertion?: {
    readonly algorithm: 'RS256' | 'HS256';
    readonly audience?: string;
    readonly claims?: Readonly<Record<string, string>>;
    readonly lifetime_seconds?: number;
  };
}

/** A valid token, with its additional fields. */
export interface Token {
  readonly access_token: string;
  /** The fields listed in the description under `keep`. */
  readonly kept: Readonly<Record<string, string>>;
  /** The ID of the token's app, which some vendors require with the token. */
  readonly client_id?: string;
}

/** Access tokens for a connector with an OAuth description, refreshed by the runner across processes. */
export interface TokenSource {
  /**
   * A token that is valid for at least the next minute, after a refresh if needed. Cheap: call it before every request.
   * @throws Problem of family `login` if a person must log in, `try_later` if the vendor is unreachable.
   */
  token(): Promise<Token>;
  /** Reports that the vendor refused this token, so that the next `token()` returns a new one. */
  refused(token: Token): Promise<void>;
}
