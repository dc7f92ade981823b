import { Type } from 'typebox';
import type { Resource } from '../endpoint.ts';
import { defineEndpoint } from '../endpoint.ts';
import { nothing } from '../http/fields.ts';
import { badRequest } from '../http/refusal.ts';
import { endShare, holderType, rights, rightsOf, shareAll, shareBody } from '../sharing.ts';
import { tabAsShared } from '../store/tabs.ts';
import { findEditableTab, findTab } from '../tab-rules.ts';

const path = '/tabs/{id}/share-rights';

const resource: Resource = {
  name: 'tab-share-rights',
  summary: 'Who may see and change a dashboard',
  endpoints: [
    defineEndpoint({
      method: 'GET',
      path,
      summary: 'The groups and users that a dashboard is shared with',
      basis: 'decided',
      permission: ['dashboard.library'],
      answer: { status: 200, data: Type.Object(rights) },
      find: (call) => tabAsShared(findTab(call)),
      do: ({ parts }, tab) => ({ data: rightsOf(parts.db, tab) }),
    }),
    defineEndpoint({
      method: 'PUT',
      path,
      summary: 'Shares a dashboard, or changes how it is shared',
      basis: 'decided',
      permission: ['tab.share'],
      body: shareBody,
      answer: { status: 200, data: nothing },
      find: (call) => tabAsShared(findEditableTab(call)),
      do: (call, tab) => {
        shareAll(call, tab, call.body);
        return {};
      },
    }),
    defineEndpoint({
      method: 'DELETE',
      path,
      summary: 'Refuses: the group or user is missing from the path',
      basis: 'decided',
      decided: 'always 400',
      permission: ['tab.share'],
      answer: { status: 200, data: nothing },
      do: () => {
        throw badRequest('The id of a group or user is missing after /share-rights/');
      },
    }),
    defineEndpoint({
      method: 'DELETE',
      path: `${path}/{holder}`,
      summary: 'Ends the sharing with one group or user',
      basis: 'decided',
      permission: ['tab.share'],
      query: { type: holderType },
      answer: { status: 200, data: nothing },
      find: (call) => tabAsShared(findEditableTab(call)),
      do: (call, tab) => {
        endShare(call, tab, { kind: call.query.type, id: call.params.holder! });
        return {};
      },
    }),
  ],
};
export default resource;
