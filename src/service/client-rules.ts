import { newId } from '../lib/ids.ts';
import { type ClientStatus, statusAt, trialIsOver } from './client-status.ts';
import type { Call } from './endpoint.ts';
import { badRequest, forbidden, notFound } from './http/api-error.ts';
import { blobsOf, type Client, clientById, deleteClient, extendTrial, updateClient } from './store/clients.ts';
import { insertAccount, insertBuiltInRoles } from './store/setup.ts';

/** A client of the caller's company, by the id in the path. */
export function findClient({ parts, caller, params }: Call): Client {
  const client = clientById(parts.db, caller.company, params.id!);
  if (client === undefined) throw notFound(`Client not found: ${params.id}`);
  return client;
}

/** What may be said of a client; absent: as it is. */
export interface ClientChange {
  readonly name?: string;
  readonly description?: string;
  readonly external_id?: string;
  readonly seats?: number;
  readonly status?: ClientStatus;
}

/** Creates a client with the built-in roles, on trial unless told; answers its id. */
export function addClient({ parts, caller, body }: Call<unknown, ClientChange & { name: string }>): string {
  if (caller.company.parentId !== null) throw forbidden('A client account cannot have clients of its own');
  const { db, clock } = parts;
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

/** Changes what is given, and nothing else; 400 for a status that a client cannot go back to. */
export function changeClient({ parts, body }: Call<unknown, ClientChange>, client: Client): void {
  const { db, clock } = parts;
  const { status } = body;
  if (status === 'setup' && client.status !== 'setup') {
    throw badRequest('Field "status" cannot be setup again once a client has left it');
  }
  if (status === 'trial' && trialIsOver(client, clock.now())) {
    throw badRequest('Field "status" cannot be trial: the trial of this client is over');
  }
  db.durably(() => updateClient(db, client.id, body));
}

/** Fourteen more days, once, for a client whose trial is running or has run out. */
export function prolongTrial({ parts }: Call, client: Client): void {
  const { db, clock } = parts;
  const now = clock.now();
  if (client.status !== 'trial') throw forbidden(`The client is not on trial: it is ${statusAt(client, now)}`);
  if (client.trialExtended === 1) throw forbidden('The trial has been extended before');
  if (trialIsOver({ ...client, trialExtended: 1 }, now)) throw forbidden('The trial ended too long ago');
  db.durably(() => extendTrial(db, client.id));
}

/** Removes the account and all that it has. */
export async function removeClient({ parts }: Call, client: Client): Promise<void> {
  const { db, blobs } = parts;
  const gone = db.durably(() => {
    const shown = blobsOf(db, client.id);
    deleteClient(db, client.id);
    return shown;
  });
  for (const blob of gone) await blobs.remove(blob);
}
