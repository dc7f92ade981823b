export interface LoginsTable {
  name: string;
  /** Where and for whom: what the tokens were given for. They are of no use to anything else. */
  identity: string;
  /** The tokens, encrypted. */
  sealed: string;
  /** Which key opens `sealed`. */
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
