/** What happens to tokens. Each event follows the step that it names; no token is ever in one. */
export type LoginEvents = {
  /** It is on disk that a request for a token is about to go out. */
  'token.asked': { readonly login: string; readonly grant: string };
  /** The vendor has given a token; it is not on disk yet. */
  'token.answered': { readonly login: string };
  /** The new tokens are on disk. */
  'token.stored': { readonly login: string; readonly expires_at?: number };
  /** The vendor has ended the grant: a person has to log in. */
  'token.refused': { readonly login: string; readonly code: string; readonly message: string };
  /** No token this time; the grant is as good as before. */
  'token.failed': { readonly login: string; readonly code: string; readonly message: string };
};
