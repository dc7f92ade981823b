import { Type } from 'typebox';
import type { Call, Resource } from '../endpoint.ts';
import { defineEndpoint } from '../endpoint.ts';
import { nothing } from '../http/fields.ts';
import { listMeta, pageQuery } from '../http/page.ts';
import { notFound } from '../http/refusal.ts';
import { describeNamed, findGroup, findUser, namedSchema } from '../people-rules.ts';
import { addMember, groupsOfUser, removeMember } from '../store/groups.ts';

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
      do: ({ parts }, { user, group }) => {
        parts.db.durably(() => addMember(parts.db, group.id, user.id));
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
      do: ({ parts }, { user, group }) => {
        const removed = parts.db.durably(() => removeMember(parts.db, group.id, user.id));
        if (!removed) throw notFound(`The user is not in the group: ${group.id}`);
        return {};
      },
    }),
  ],
};
export default resource;
