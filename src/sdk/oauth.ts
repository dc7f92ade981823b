/**
 * OAuth, described as data. A connector describes how its vendor issues tokens. The runner (`src/oauth`) handles
 * consent, storage, refresh and revocation; the connector only requests a token to send.
 */

/** The grants (RFC 6749, RFC 7523), and one non-standard grant: exchanging a token for a long-lived one. */
export type GrantKind = 'authorization_code' | 'client_credentials' | 'jwt_bearer' | 'password';

/**
 * How a token request identifies the app: with its ID and secret in the body, or in a Basic header, form-encoded (RFC
 * 6749, 2.3.1) or unencoded, which many servers require; or with an assertion signed with its private key (RFC 7523,
 * 2.2).
 */
export type ClientAuthentication = 'body' | 'basic' | 'basic_plain' | 'private_key_jwt';

/** The signature of an assertion (RFC 7518, 3.1). HS256 signs with the app's secret, the others with a private key. */
export const assertionAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'HS256',
] as const;
export type AssertionAlgorithm = (typeof assertionAlgorithms)[number];

/**
 * The device flow: a person enters a code on the vendor's page, on any machine (RFC 8628). Vendors that offered this
 * flow before the RFC use other names. If a property is absent, the standard name applies.
 */
export interface DeviceCodes {
  /** The device authorization endpoint (section 3.1). */
  readonly url: string;
  /** Additional parameters for the code request. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The grant's name at the token endpoint, and the name of the field that contains the code (section 3.4). */
  readonly grant_type?: string;
  readonly code_parameter?: string;
  /** Lifetime of a code in seconds, if the response doesn't contain one. */
  readonly lifetime_seconds?: number;
}

/** How a vendor issues tokens. URLs may contain `{option}`, filled from the source's options. */
export interface OAuthDescription {
  /** The grants that the vendor offers, the default first. */
  readonly grants: readonly GrantKind[];
  /** The authorization endpoint, only for `authorization_code`. */
  readonly authorize_url?: string;
  readonly token_url: string;
  /**
   * The device flow for machines without a browser, if the vendor supports it. Used in addition to
   * `authorization_code`.
   */
  readonly device?: DeviceCodes;
  /** The revocation endpoint (RFC 7009), if the vendor has one. */
  readonly revoke_url?: string;
  /** Whether to send a PKCE challenge (RFC 7636, S256). */
  readonly pkce?: boolean;
  readonly scopes?: readonly string[];
  /** Additional scopes to request on the consent page, such as the scope for a refresh token. */
  readonly person_scopes?: readonly string[];
  /** Separator between scopes; default: a space. */
  readonly scope_separator?: ' ' | ',';
  /** Additional parameters in the consent URL, such as `access_type: offline`. */
  readonly authorize_parameters?: Readonly<Record<string, string>>;
  /** Additional parameters in every token request. */
  readonly token_parameters?: Readonly<Record<string, string>>;
  /** How the token request sends its fields; default: in a form body. */
  readonly token_request?: 'form' | 'json' | 'query';
  /** How the token request identifies the app; default: `body`. */
  readonly client_authentication?: ClientAuthentication;
  /** The HTTP method for token requests; default: POST. */
  readonly token_method?: 'POST' | 'GET';
  /**
   * `rotating`: every refresh returns a new refresh token and invalidates the old one, so the new one is stored on disk
   * first. `none`: there are no refresh tokens; when the token expires, a user must consent again.
   */
  readonly refresh: 'static' | 'rotating' | 'none';
  /** The vendor's error codes for a grant that is no longer valid, besides the standard `invalid_grant`. */
  readonly ended_codes?: readonly string[];
  /** The refresh endpoint, if it isn't `token_url`. */
  readonly refresh_url?: string;
  /** Lifetime of a token in seconds, if the response doesn't contain one. By default, the token never expires. */
  readonly lifetime_seconds?: number;
  /** The token response's field that contains the lifetime in seconds, if it isn't `expires_in`. */
  readonly lifetime_field?: string;
  /** The token response's field that identifies the account, such as its email address. */
  readonly who_field?: string;
  /** Exchanges the first, short-lived token for a long-lived one with a second token request (Facebook). */
  readonly exchange?: { readonly parameters: Readonly<Record<string, string>>; readonly token_parameter: string };
  /** Fields in the token response that the connector needs later, such as `instance_url`. */
  readonly keep?: readonly string[];
  /**
   * For `jwt_bearer` and `private_key_jwt`: how to sign assertions, and the claims of `jwt_bearer` in addition to the
   * issuer, audience and times.
   */
  readonly assertion?: {
    readonly algorithm?: AssertionAlgorithm;
    readonly audience?: string;
    readonly claims?: Readonly<Record<string, string>>;
    readonly lifetime_seconds?: number;
  };
}

/** A valid token, with its additional fields. */
export interface Token {
  readonly access_token: string;
  /** The fields that the description lists under `keep`. */
  readonly kept: Readonly<Record<string, string>>;
  /** The app's ID, which some vendors require in addition to the token. */
  readonly client_id?: string;
}

/** Access tokens for a connector with an OAuth description. The runner refreshes them across processes. */
export interface TokenSource {
  /**
   * Resolves to a token that is valid for at least the next minute, after a refresh if needed. Cheap: call it before
   * every request.
   * @throws Problem of the `login` family if a user must log in, or of the `try_later` family if the vendor is
   * unreachable.
   */
  token(): Promise<Token>;
  /** Reports that the vendor refused this token, so that the next `token()` call returns a new one. */
  refused(token: Token): Promise<void>;
}
