/** Token events. Each is emitted after the step that it names, and none contains a token. */
export type LoginEvents = {
  /** A token request is about to be sent. This has already been recorded on disk (write-ahead). */
  'token.asked': { readonly login: string; readonly grant: string };
  /** The vendor returned a token that isn't on disk yet. */
  'token.answered': { readonly login: string };
  /** The new tokens are on disk. */
  'token.stored': { readonly login: string; readonly expires_at?: number };
  /** The vendor has ended the grant, so a person must log in. */
  'token.refused': { readonly login: string; readonly code: string; readonly message: string };
  /** The vendor didn't issue a token this time, but the grant is still valid. */
  'token.failed': { readonly login: string; readonly code: string; readonly message: string };
};
