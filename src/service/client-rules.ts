import { newId } from '../lib/ids.ts';
import { statusAt, trialIsOver } from './client-status.ts';
import type { ApiCall } from './endpoint.ts';
import { badRequest, forbidden, notFound } from './http/api-error.ts';
import {
  blobsOf,
  type ClientAccount,
  type ClientChange,
  clientById,
  deleteClient,
  extendTrial,
  updateClient,
} from './store/clients.ts';
import { insertAccount, insertBuiltInRoles } from './store/setup.ts';

/** The client of the caller's company with the ID in the path. */
export function findClient({ context, caller, params }: ApiCall): ClientAccount {
  const client = clientById(context.db, caller.company, params.id!);
  if (client === undefined) throw notFound(`Client not found: ${params.id}`);
  return client;
}

/** Creates a client with the built-in roles, and returns the client's ID. By default, the client is on trial. */
export function addClient({ context, caller, body }: ApiCall<unknown, ClientChange & { name: string }>): string {
  if (caller.company.parentId !== null) throw forbidden('A client account cannot have clients of its own');
  const { db, clock } = context;
  const id = newId();
  const createdAt = clock.now();
  const { name, status = 'trial' } = body;
  db.durably(() => {
    insertAccount(db, { id, parentId: caller.company.id, name, status, createdAt });
    updateClient(db, id, body);
    insertBuiltInRoles(db, id, createdAt);
  });
  return id;
}

/** Changes only the given fields. Throws 400 if the client can't return to the given status. */
export function changeClient({ context, body }: ApiCall<unknown, ClientChange>, client: ClientAccount): void {
  const { db, clock } = context;
  const { status } = body;
  if (status === 'setup' && client.status !== 'setup') {
    throw badRequest('Field "status" cannot be set back to setup');
  }
  if (status === 'trial' && trialIsOver(client, clock.now())) {
    throw badRequest('Field "status" cannot be trial: the trial of this client has ended');
  }
  db.durably(() => updateClient(db, client.id, body));
}

/** Extends a running or expired trial by fourteen days. A trial can be extended only once. */
export function prolongTrial({ context }: ApiCall, client: ClientAccount): void {
  const { db, clock } = context;
  const now = clock.now();
  if (client.status !== 'trial') throw forbidden(`The client is not on trial: it is ${statusAt(client, now)}`);
  if (client.trialExtended === 1) throw forbidden('The trial has already been extended');
  if (trialIsOver({ ...client, trialExtended: 1 }, now)) throw forbidden('The trial ended too long ago');
  db.durably(() => extendTrial(db, client.id));
}

/** Removes a client account with all its data. */
export async function removeClient({ context }: ApiCall, client: ClientAccount): Promise<void> {
  const { db, blobs } = context;
  const gone = db.durably(() => {
    const shown = blobsOf(db, client.id);
    deleteClient(db, client.id);
    return shown;
  });
  for (const blob of gone) await blobs.remove(blob);
}
