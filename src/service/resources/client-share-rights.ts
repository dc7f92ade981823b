import { Type } from 'typebox';
import { findClient } from '../client-rules.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { forbidden } from '../http/api-error.ts';
import { canonicalId } from '../http/canonical-id.ts';
import { defineModel } from '../model.ts';
import { findGroup } from '../people-rules.ts';
import { clientRights, shareClient, unshareClient } from '../store/client-shares.ts';
import type { ClientAccount } from '../store/clients.ts';

const path = '/clients/{id}/share-rights';

/** The `share_rights` field of a client. */
export const clientShareRights = Type.Array(
  defineModel('ClientShareRight', {
    group_id: Type.String(),
    group_name: Type.String(),
    can_manage: Type.Boolean(),
  }),
);

const wanted = Type.Array(
  defineModel('ClientShare', { group_id: Type.String(), can_manage: Type.Optional(Type.Boolean()) }),
);

type Wanted = ApiCall<unknown, { groups: { group_id: string; can_manage?: boolean }[] }>;

/** Shares a client with groups of the caller's company. Shares it with none of them if one is unknown. */
function shareAll(call: Wanted, client: ClientAccount): void {
  const { db, clock } = call.context;
  const now = clock.now();
  db.durably(() => {
    for (const { group_id, can_manage: canManage = false } of call.body.groups) {
      shareClient(db, client.id, { groupId: findGroup(call, canonicalId(group_id)).id, canManage, now });
    }
  });
}

function endShare(call: ApiCall, client: ClientAccount): void {
  const { db } = call.context;
  const { id } = findGroup(call, call.params.group!);
  const ended = db.durably(() => unshareClient(db, client.id, id));
  if (!ended) throw forbidden(`The client is not shared with this group: ${id}`);
}

export default {
  name: 'client-share-rights',
  summary: "The company's groups that a client is shared with",
  endpoints: [
    defineEndpoint({
      id: 'getClientShareRights',
      method: 'GET',
      path,
      summary: 'The groups that a client is shared with',
      basis: 'decided',
      missing: 'any effect: all users with `client.access` see all clients',
      permission: ['client.access'],
      client: false,
      answer: { status: 200, data: Type.Object({ share_rights: clientShareRights }) },
      find: (call) => findClient(call),
      do: ({ context }, client) => ({ data: { share_rights: clientRights(context.db, client.id) } }),
    }),
    defineEndpoint({
      id: 'shareClient',
      method: 'PUT',
      path,
      summary: 'Shares a client with groups, or changes how it is shared',
      basis: 'decided',
      decided: 'the change is all or nothing',
      missing: 'any effect: all users with `client.access` see all clients',
      permission: ['client.edit'],
      client: false,
      body: { groups: wanted },
      find: (call) => findClient(call),
      act: (call, client) => shareAll(call, client),
    }),
    defineEndpoint({
      id: 'unshareClient',
      method: 'DELETE',
      path: `${path}/{group}`,
      summary: 'Stops sharing a client with one group',
      basis: 'decided',
      permission: ['client.edit'],
      client: false,
      find: (call) => findClient(call),
      act: (call, client) => endShare(call, client),
    }),
  ],
} satisfies Resource;
