import { Type } from 'typebox';
import type { Call, Resource } from '../endpoint.ts';
import { defineEndpoint } from '../endpoint.ts';
import { nothing } from '../http/fields.ts';
import { listMeta, pageQuery } from '../http/page.ts';
import { describeNamed, findGroup, findUser, joinGroup, leaveGroup, namedSchema } from '../people-rules.ts';
import { groupsOfUser } from '../store/groups.ts';

const permission = ['user.manage'] as const;
const path = '/users/{id}/groups/{group}';

const findPair = (call: Call) => ({ user: findUser(call), group: findGroup(call, call.params.group!) });

const resource: Resource = {
  name: 'user-groups',
  summary: 'Which groups a user is in',
  endpoints: [
    defineEndpoint({
      method: 'GET',
      path: '/users/{id}/groups',
      summary: 'The groups of a user',
      basis: 'decided',
      permission,
      query: pageQuery,
      answer: { status: 200, data: Type.Object({ groups: Type.Array(namedSchema) }) },
      find: (call) => findUser(call),
      do: ({ parts, query }, user) => {
        const listed = groupsOfUser(parts.db, user.id, query);
        return { data: { groups: listed.items.map(describeNamed) }, meta: listMeta(listed) };
      },
    }),
    defineEndpoint({
      method: 'PUT',
      path,
      summary: 'Puts a user into a group',
      basis: 'decided',
      permission,
      body: {},
      answer: { status: 200, data: nothing },
      find: (call) => findPair(call),
      do: (call, pair) => {
        joinGroup(call, pair);
        return {};
      },
    }),
    defineEndpoint({
      method: 'DELETE',
      path,
      summary: 'Takes a user out of a group',
      basis: 'decided',
      permission,
      answer: { status: 200, data: nothing },
      find: (call) => findPair(call),
      do: (call, pair) => {
        leaveGroup(call, pair);
        return {};
      },
    }),
  ],
};
export default resource;
