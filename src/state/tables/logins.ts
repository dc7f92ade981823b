/** Refused logins of sources, by account and secret. */
export interface LoginHoldsTable {
  connector: string;
  /** The server, as people write it. */
  place: string;
  /** Whom it logs in as; empty if the credentials name no user. */
  account: string;
  /** Which key `secret` is hashed with. */
  key_id: string;
  /** Keyed hash of everything that the login rests on. */
  secret: string;
  since: number;
  /** How often it was refused; 0 if only one path was, which is no hold. */
  refusals: number;
  /** When it is tried again; null: only if a person lets it. */
  retry_at: number | null;
  code: string;
  message: string;
  /** The first address that answered 401, for credentials that go with every request. */
  path: string | null;
}

export interface LoginsTable {
  name: string;
  /** Where and for whom: what the tokens were given for. They are of no use to anything else. */
  identity: string;
  /** The tokens, encrypted. */
  encrypted: string;
  /** Which key opens `encrypted`. */
  key_id: string;
  state: LoginState;
  /** Whose login it is, where the vendor says so. */
  who: string | null;
  /** As granted, between spaces. */
  scopes: string;
  /** End of the access token; null when it does not expire. */
  expires_at: number | null;
  made_at: number;
  renewed_at: number;
  /** Set while a renewal is under way: found set by the next one, that renewal's answer was lost. */
  asked_at: number | null;
  code: string | null;
  message: string | null;
}

/** `refused`: the vendor took the grant back; the tokens stay for inspection. */
export type LoginState = 'good' | 'refused';
