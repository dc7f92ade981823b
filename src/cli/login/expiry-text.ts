import type { Login } from '../../config/config.ts';
import type { LoginRow } from '../../state/tables.ts';
import { instantText } from '../format.ts';

/** Describes how long a login is valid. */
export function untilText(
  { expires_at }: Pick<LoginRow, 'expires_at'>,
  given: { login: Login; renews: boolean },
): string {
  if (expires_at === null) return 'The token does not expire.';
  if (given.renews) return `The token expires at ${instantText(expires_at)} and is renewed automatically.`;
  return given.login.description.refresh === 'none'
    ? `The token expires at ${instantText(expires_at)}. This vendor does not renew tokens: log in again before that.`
    : `The token expires at ${instantText(expires_at)}. The vendor returned no refresh token: log in again before that, or request offline access in the app's scopes.`;
}
