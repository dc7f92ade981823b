/** Logins that sources have refused. A row is identified by account and secret. */
export interface LoginHoldsTable {
  connector: string;
  /** The server, in readable form. */
  place: string;
  /** The login's user name. Empty if the credentials don't contain one. */
  account: string;
  /** Identifies the key that was used to hash `secret`. */
  key_id: string;
  /** Keyed hash of everything that the login depends on, such as its password. */
  secret: string;
  since: number;
  /** How often the login was refused in a row. 0 means that only one path was refused, so the login isn't on hold. */
  refusals: number;
  /** When the login will be tried again. Null if a user must allow it first. */
  retry_at: number | null;
  code: string;
  message: string;
  /** For credentials that are sent with every request, the first path that returned 401. */
  path: string | null;
}

export interface LoginsTable {
  name: string;
  /** The vendor, app and user for which the tokens were issued. The tokens can't be used for any other. */
  identity: string;
  /** The tokens, encrypted. */
  encrypted: string;
  /** Identifies the key that decrypts `encrypted`. */
  key_id: string;
  state: LoginState;
  /** The user who logged in, if the vendor reports it. */
  who: string | null;
  /** The granted scopes, separated by spaces. */
  scopes: string;
  /** When the access token expires. Null if it doesn't expire. */
  expires_at: number | null;
  made_at: number;
  renewed_at: number;
  /**
   * When the current renewal began. Null if no renewal is in progress. If a renewal finds that this is set, the
   * response to the previous renewal was lost.
   */
  asked_at: number | null;
  code: string | null;
  message: string | null;
}

/** State of a login. `refused` means that the vendor has revoked the grant; the tokens are kept for diagnosis. */
export type LoginState = 'good' | 'refused';
