import { Type } from 'typebox';
import { defineEndpoint, type Resource } from '../endpoint.ts';
import { findEditableKlip, findKlip } from '../klip-rules.ts';
import { endShare, endShares, holderType, rights, shareAll, shareBody } from '../sharing.ts';
import { klipAsShared } from '../store/klips.ts';
import { groupRights } from '../store/shares.ts';

const path = '/klips/{id}/share-rights';

export default {
  name: 'klip-share-rights',
  summary: 'Who may see and change a Klip',
  endpoints: [
    defineEndpoint({
      id: 'getKlipShareRights',
      method: 'GET',
      path,
      summary: 'The groups that a Klip is shared with',
      basis: 'document',
      permission: ['dashboard.library'],
      client: false,
      answer: { status: 200, data: Type.Object({ share_rights: rights.share_rights }) },
      find: (call) => findKlip(call),
      do: ({ context }, klip) => ({ data: { share_rights: groupRights(context.db, klipAsShared(klip)) } }),
    }),
    defineEndpoint({
      id: 'shareKlip',
      method: 'PUT',
      path,
      summary: 'Shares a Klip, or changes how it is shared',
      basis: 'document',
      decided: '`users` is also accepted',
      permission: ['klip.share'],
      client: false,
      body: shareBody,
      find: (call) => findEditableKlip(call),
      act: (call, klip) => shareAll(call, klipAsShared(klip), call.body),
    }),
    defineEndpoint({
      id: 'unshareKlip',
      method: 'DELETE',
      path,
      summary: 'Stops sharing with the groups in the body; if one is invalid, nothing changes',
      basis: 'document',
      decided: '`users` is also accepted; the change is all or nothing',
      permission: ['klip.share'],
      client: false,
      body: shareBody,
      find: (call) => findEditableKlip(call),
      act: (call, klip) => endShares(call, klipAsShared(klip), call.body),
    }),
    defineEndpoint({
      id: 'unshareKlipWithHolder',
      method: 'DELETE',
      path: `${path}/{holder}`,
      summary: 'Stops sharing a Klip with one group or user',
      basis: 'decided',
      permission: ['klip.share'],
      client: false,
      query: { type: holderType },
      find: (call) => findEditableKlip(call),
      act: (call, klip) => endShare(call, klipAsShared(klip), { kind: call.query.type, id: call.params.holder! }),
    }),
  ],
} satisfies Resource;
