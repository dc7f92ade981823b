import { Type } from 'typebox';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { membershipEndpoints } from '../membership.ts';
import { findGroup, findUser, personSchema } from '../people-rules.ts';
import { membersOf } from '../store/groups.ts';

const path = '/groups/{id}/users/{user}';

/** Looks up the group before the user, so that errors follow the order of the IDs in the path. */
const findPair = (call: ApiCall) => ({ group: findGroup(call), user: findUser(call, call.params.user!) });

export default {
  name: 'group-members',
  summary: 'The members of a group',
  endpoints: [
    defineEndpoint({
      id: 'listGroupMembers',
      method: 'GET',
      path: '/groups/{id}/users',
      summary: 'The members of a group',
      basis: 'decided',
      permission: ['user.manage'],
      query: pageQuery,
      answer: { status: 200, data: Type.Object({ users: Type.Array(personSchema) }) },
      find: (call) => findGroup(call),
      do: ({ context, query }, group) => listResult('users', membersOf(context.db, group.id, query)),
    }),
    ...membershipEndpoints({ path, ids: ['addUserToGroup', 'removeUserFromGroup'], find: findPair }),
  ],
} satisfies Resource;
