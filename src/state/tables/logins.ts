/** Refused source logins, by account and secret. */
export interface LoginHoldsTable {
  connector: string;
  /** The server, in readable form. */
  place: string;
  /** The user name of the login; empty if the credentials don't contain one. */
  account: string;
  /** The key that `secret` is hashed with. */
  key_id: string;
  /** Keyed hash of everything that the login depends on. */
  secret: string;
  since: number;
  /** Number of refusals; 0 if only one path was refused, which isn't a hold. */
  refusals: number;
  /** When the login is tried again; null if only after a user allows it. */
  retry_at: number | null;
  code: string;
  message: string;
  /** The first address that returned 401, for credentials sent with every request. */
  path: string | null;
}

export interface LoginsTable {
  name: string;
  /** The vendor, app and user for which the tokens were issued. They can't be used for any other. */
  identity: string;
  /** The tokens, encrypted. */
  encrypted: string;
  /** The key that decrypts `encrypted`. */
  key_id: string;
  state: LoginState;
  /** The login's user, if the vendor reports it. */
  who: string | null;
  /** The granted scopes, separated by spaces. */
  scopes: string;
  /** Expiry of the access token; null if it doesn't expire. */
  expires_at: number | null;
  made_at: number;
  renewed_at: number;
  /**
   * Set while a renewal is in progress. If the next renewal finds it set, the response to the previous one was lost.
   */
  asked_at: number | null;
  code: string | null;
  message: string | null;
}

/** `refused`: the vendor revoked the grant; the tokens are kept for diagnosis. */
export type LoginState = 'good' | 'refused';
