import type { Login } from '../config/config.ts';
import type { Store } from '../state/store.ts';
import { withLoginLease } from './login-lease.ts';
import { clientRefused, endedByVendor, oddRefusal } from './login-problems.ts';
import type { RegisteredLogin } from './login-registry.ts';
import { TokenRefusal } from './refusal.ts';
import type { TokenResponse } from './token-response.ts';

/**
 * Logs in from scratch: the result of `ask` replaces the stored tokens. If the login is refused, the stored tokens are
 * kept.
 */
export async function authorize(
  { tokenStore }: RegisteredLogin,
  given: { login: Login; store: Store; ask: () => Promise<TokenResponse> },
): Promise<void> {
  let granted: TokenResponse;
  try {
    granted = await given.ask();
  } catch (thrown) {
    throw thrown instanceof TokenRefusal ? explained(given.login, thrown) : thrown;
  }
  await withLoginLease(given.login.name, given, () => tokenStore.save(granted, undefined));
}

function explained(login: Login, refusal: TokenRefusal) {
  if (refusal.meaning === 'client') return clientRefused(login, refusal);
  return refusal.meaning === 'ended' ? endedByVendor(login, refusal, undefined) : oddRefusal(login, refusal);
}
