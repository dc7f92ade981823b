import type { Login } from '../../config/config.ts';
import type { LoginRow } from '../../state/tables.ts';
import { instantText } from '../figures.ts';

/** How long a login lasts, for a person. */
export function untilText(
  { expires_at }: Pick<LoginRow, 'expires_at'>,
  given: { login: Login; renews: boolean },
): string {
  if (expires_at === null) return 'Its token does not expire.';
  if (given.renews) return `Its token ends at ${instantText(expires_at)} and is renewed by itself before that.`;
  return given.login.description.refresh === 'none'
    ? `Its token ends at ${instantText(expires_at)}; log in again before that, this vendor renews none.`
    : `Its token ends at ${instantText(expires_at)}. The vendor gave nothing to renew it with: log in again before that, or ask for offline access in the app's scopes.`;
}
