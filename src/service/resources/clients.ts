import { Type } from 'typebox';
import { addClient, changeClient, findClient, prolongTrial, removeClient } from '../client-rules.ts';
import { clientStatuses, statusAt } from '../client-status.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { idAndName, idText, isoTimeOrNull, nothing, someName, someText, timeText } from '../http/fields.ts';
import { byExternalId, listResult, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { personSchema } from '../people-rules.ts';
import { clientRights } from '../store/client-shares.ts';
import { billDirectly, type ClientAccount, clientsOf } from '../store/clients.ts';
import { allGroupsOf } from '../store/groups.ts';
import { allUsersOf } from '../store/users.ts';
import { clientShareRights } from './client-share-rights.ts';

const listItem = {
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  status: Type.Enum(clientStatuses),
  seats: Type.Integer(),
  last_sign_in: isoTimeOrNull,
  external_id: Type.Optional(Type.String()),
};

const summary = defineModel('ClientSummary', { ...listItem, direct_billing: Type.Optional(Type.Boolean()) });
const detail = defineModel('Client', {
  ...listItem,
  direct_billing: Type.Boolean(),
  users: Type.Optional(Type.Array(personSchema)),
  groups: Type.Optional(Type.Array(idAndName)),
  share_rights: Type.Optional(clientShareRights),
});

const change = {
  name: Type.Optional(someName),
  description: Type.Optional(someText),
  external_id: Type.Optional(idText),
  seats: Type.Optional(
    Type.Integer({
      minimum: -1,
      maximum: Number.MAX_SAFE_INTEGER,
      'x-rule': 'must be a whole number of seats, or -1 for no limit',
    }),
  ),
  status: Type.Optional(Type.Enum(clientStatuses)),
};

function describeListed({ context }: Pick<ApiCall, 'context'>, client: ClientAccount): object {
  return {
    id: client.id,
    name: client.name,
    description: client.description,
    status: statusAt(client, context.clock.now()),
    seats: client.seats,
    last_sign_in: timeText(client.lastSignIn),
    ...(client.externalId === null ? {} : { external_id: client.externalId }),
  };
}

function describe(call: Pick<ApiCall, 'context'>, client: ClientAccount): object {
  return { ...describeListed(call, client), direct_billing: client.directBilling === 1 };
}

function describeFully(call: Pick<ApiCall, 'context'>, client: ClientAccount): object {
  const { db } = call.context;
  return {
    ...describe(call, client),
    users: allUsersOf(db, client.id),
    groups: allGroupsOf(db, client.id),
    share_rights: clientRights(db, client.id),
  };
}

export default {
  name: 'clients',
  summary: 'The client accounts of a company',
  endpoints: [
    defineEndpoint({
      id: 'listClients',
      method: 'GET',
      path: '/clients',
      summary: 'The clients of the company',
      basis: 'decided',
      permission: ['client.access'],
      client: false,
      query: {
        ...pageQuery,
        ...byExternalId,
        status: Type.Optional(Type.Enum(clientStatuses, { description: 'return only clients with this status' })),
        full: Type.Boolean({ default: false, description: 'return every field of each client' }),
      },
      answer: { status: 200, data: Type.Object({ clients: Type.Array(summary) }) },
      do: (call) => {
        const { context, caller, query } = call;
        const found = clientsOf(context.db, caller.company, { ...query, now: context.clock.now() });
        return listResult('clients', found, (one) => (query.full ? describe(call, one) : describeListed(call, one)));
      },
    }),
    defineEndpoint({
      id: 'getClient',
      method: 'GET',
      path: '/clients/{id}',
      summary: 'One client; with `full`, also its users, groups and share rights',
      basis: 'decided',
      permission: ['client.access'],
      client: false,
      query: { full: Type.Boolean({ default: false }) },
      answer: { status: 200, data: detail },
      find: (call) => findClient(call),
      do: (call, client) => ({ data: call.query.full ? describeFully(call, client) : describe(call, client) }),
    }),
    defineEndpoint({
      id: 'createClient',
      method: 'POST',
      path: '/clients',
      summary: 'Creates a client account with the built-in roles',
      basis: 'decided',
      decided: 'a new client is on trial',
      permission: ['client.build'],
      client: false,
      body: { ...change, name: someName },
      answer: { status: 201, data: nothing },
      do: (call) => ({ meta: { location: `/clients/${addClient(call)}` } }),
    }),
    defineEndpoint({
      id: 'updateClient',
      method: 'PUT',
      path: '/clients/{id}',
      summary: 'Changes a client; other fields are unchanged',
      basis: 'decided',
      decided: 'the status cannot be set back to `setup` or to an expired trial',
      missing: 'automatic changes to grace or arrears, because there is no billing',
      permission: ['client.edit'],
      client: false,
      body: change,
      find: (call) => findClient(call),
      act: (call, client) => changeClient(call, client),
    }),
    defineEndpoint({
      id: 'deleteClient',
      method: 'DELETE',
      path: '/clients/{id}',
      summary: 'Removes a client account and everything in it',
      basis: 'decided',
      permission: ['client.delete'],
      client: false,
      find: (call) => findClient(call),
      act: (call, client) => removeClient(call, client),
    }),
    defineEndpoint({
      id: 'extendClientTrial',
      method: 'POST',
      path: '/clients/{id}/@/extend_trial',
      summary: 'Extends a trial by fourteen days, once',
      basis: 'decided',
      permission: ['client.edit'],
      client: false,
      body: {},
      find: (call) => findClient(call),
      act: (call, client) => prolongTrial(call, client),
    }),
    defineEndpoint({
      id: 'enableClientDirectBilling',
      method: 'POST',
      path: '/clients/{id}/@/enable_direct_billing',
      summary: 'Marks the client as billed directly, not through its company',
      basis: 'decided',
      missing: 'billing: the setting is only stored and returned',
      permission: ['client.edit'],
      client: false,
      body: {},
      find: (call) => findClient(call),
      act: ({ context }, client) => context.db.durably(() => billDirectly(context.db, client.id)),
    }),
  ],
} satisfies Resource;
