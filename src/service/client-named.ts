import type { Caller } from './auth/authenticate.ts';
import { lacking, notFound } from './http/api-error.ts';
import type { Parts } from './context.ts';
import { type Account, clientOf } from './store/accounts.ts';

/** A client of the caller's company: 401 without `client.access`, 404 when it is not one. */
export function clientNamed({ db }: Parts, caller: Caller, id: string): Account {
  if (!caller.permissions.has('client.access')) throw lacking(['client.access']);
  const client = clientOf(db, caller.company, id);
  if (client === undefined) throw notFound(`Client not found: ${id}`);
  return client;
}
