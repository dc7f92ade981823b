import { Type } from 'typebox';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import {
  assignRole,
  describeNamed,
  findRole,
  findUser,
  requireAdmin,
  roleSummary,
  withdrawRole,
} from '../people-rules.ts';
import { roleById } from '../store/roles.ts';

const permission = ['user.manage'] as const;
const path = '/users/{id}/roles/{role}';

function findPair(call: ApiCall) {
  requireAdmin(call);
  return { user: findUser(call), role: findRole(call, call.params.role!) };
}

export default {
  name: 'user-roles',
  summary: 'The role of a user',
  endpoints: [
    defineEndpoint({
      id: 'getUserRole',
      method: 'GET',
      path: '/users/{id}/roles',
      summary: "The user's role; empty if the user has no role",
      basis: 'document',
      decided: 'empty if the user has no role',
      permission,
      answer: { status: 200, data: Type.Partial(roleSummary) },
      find: (call) => findUser(call),
      do: ({ context }, user) => {
        const role = roleById(context.db, user.roleId ?? '');
        return { data: role === undefined ? {} : describeNamed(role) };
      },
    }),
    defineEndpoint({
      id: 'assignUserRole',
      method: 'PUT',
      path,
      summary: 'Assigns a role to a user, replacing the previous role',
      basis: 'document',
      decided: 'only an Admin can do this; the role replaces the previous one',
      permission,
      body: {},
      find: (call) => findPair(call),
      act: (call, { user, role }) => assignRole(call, user, role),
    }),
    defineEndpoint({
      id: 'withdrawUserRole',
      method: 'DELETE',
      path,
      summary: 'Removes the role from a user, who then has no role',
      basis: 'document',
      decided: 'only an Admin can do this; the user then has no role',
      permission,
      find: (call) => findPair(call),
      act: (call, { user, role }) => withdrawRole(call, user, role),
    }),
  ],
} satisfies Resource;
