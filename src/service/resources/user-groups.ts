import { Type } from 'typebox';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { membershipEndpoints } from '../membership.ts';
import { describeNamed, findGroup, findUser, groupSummary } from '../people-rules.ts';
import { groupsOfUser } from '../store/groups.ts';

const path = '/users/{id}/groups/{group}';

const findPair = (call: ApiCall) => ({ user: findUser(call), group: findGroup(call, call.params.group!) });

export default {
  name: 'user-groups',
  summary: 'The groups of a user',
  endpoints: [
    defineEndpoint({
      id: 'listUserGroups',
      method: 'GET',
      path: '/users/{id}/groups',
      summary: 'The groups of a user',
      basis: 'decided',
      permission: ['user.manage'],
      query: pageQuery,
      answer: { status: 200, data: Type.Object({ groups: Type.Array(groupSummary) }) },
      find: (call) => findUser(call),
      do: ({ context, query }, user) => listResult('groups', groupsOfUser(context.db, user.id, query), describeNamed),
    }),
    ...membershipEndpoints({ path, ids: ['addGroupToUser', 'removeGroupFromUser'], find: findPair }),
  ],
} satisfies Resource;
