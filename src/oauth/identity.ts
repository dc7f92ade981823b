import type { Login } from '../config/config.ts';

/** Whom a login is for. Tokens that were given to another app, user or address are of no use to it. */
export function identityOf({ description, grant, clientId, subject, username, accountFile }: Login): string {
  return JSON.stringify([description.token_url, grant, clientId, subject ?? accountFile ?? username ?? null]);
}
