import type { Config } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import { withLoginLease } from '../../oauth/login-lease.ts';
import type { LoginRegistry } from '../../oauth/login-registry.ts';
import { TokenRefusal } from '../../oauth/refusal.ts';
import type { Store } from '../../state/store.ts';
import { findLogin, type LoginSource } from './find-login.ts';

export interface RevokeOptions {
  readonly config: Config;
  readonly store: Store;
  readonly book: LoginRegistry;
  /** Whether to delete the tokens even if the vendor is unreachable. */
  readonly force: boolean;
}

/**
 * Revokes a login with the vendor, then deletes its tokens from this machine. Returns the message for the user. Keeps
 * the tokens if the vendor doesn't revoke the login.
 */
export async function revokeLogin(name: string, given: RevokeOptions): Promise<string> {
  const { config, store } = given;
  const isUsed = [...config.sources.values()].some((one) => one.name === name || one.login?.name === name);
  if (!isUsed && (await store.logins.find(name)) !== undefined) {
    await store.logins.forget(name);
    return `Deleted the tokens of "${name}". No source uses this login anymore, so it was not revoked with the vendor.`;
  }
  const source = findLogin(config, name);
  return withLoginLease(source.login.name, { store }, () => endLogin(source, given));
}

async function endLogin(source: LoginSource, { store, book, force }: RevokeOptions): Promise<string> {
  const { tokenStore, tokenClient } = book.entry(source)!;
  const { name: login } = source.login;
  try {
    const kept = await tokenStore.load();
    if (kept === undefined) return `There is no "${login}" login to revoke.`;
    const isRevoked = await tokenClient.revoke(kept.granted.refreshToken ?? kept.granted.accessToken);
    await store.logins.forget(login);
    return isRevoked
      ? `Revoked the "${login}" login with the vendor and deleted its tokens.`
      : `Deleted the tokens of "${login}". This vendor has no revocation endpoint: remove the app's access in your account with the vendor.`;
  } catch (thrown) {
    if (!force) throw thrown instanceof TokenRefusal ? notEnded(login, thrown) : thrown;
    await store.logins.forget(login);
    return `Deleted the tokens of "${login}". The vendor could not be reached, so they were not revoked.`;
  }
}

function notEnded(login: string, { error, message }: TokenRefusal): Problem {
  return new Problem({
    code: 'LOGIN_NOT_REVOKED',
    family: 'login',
    message: `The vendor did not revoke the "${login}" login; its tokens are kept`,
    seen: error === message ? error : `${error}: ${message}`,
    next: "revoke the login on the vendor's site, then run the command again with --force",
  });
}
