import type { Caller } from './auth/authenticate.ts';
import type { ServiceContext } from './context.ts';
import { missingPermission, notFound } from './http/api-error.ts';
import { canonicalId } from './http/canonical-id.ts';
import { type Account, clientOf } from './store/accounts.ts';

/**
 * A client of the caller's company. Throws 401 if the caller lacks the `client.access` permission, and 404 if there is
 * no such client.
 */
export function clientNamed({ db }: ServiceContext, caller: Caller, id: string): Account {
  if (!caller.permissions.has('client.access')) throw missingPermission(['client.access']);
  const client = clientOf(db, caller.company, canonicalId(id));
  if (client === undefined) throw notFound(`Client not found: ${id}`);
  return client;
}
