import type { Login } from '../config/config.ts';

/** Identifies a login's vendor, app and user. Tokens issued for another identity are useless. */
export function identityOf({ description, grant, clientId, subject, username, accountFile }: Login): string {
  return JSON.stringify([description.token_url, grant, clientId, subject ?? accountFile ?? username ?? null]);
}
