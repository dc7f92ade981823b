import { Type } from 'typebox';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { ApiError, badRequest, notFound } from '../http/api-error.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { assignRole, requireAdmin, withdrawRole } from '../people-rules.ts';
import { holdersOf, type Role, roleById } from '../store/roles.ts';
import { type User, userById } from '../store/users.ts';

const permission = ['user.manage'] as const;
const path = '/roles/{id}/users';

/** Throws 401 if the role or user exists in another account. Other endpoints respond with 404 in this case. */
function ofThisAccount<T extends { accountId: string }>({ account }: ApiCall, kind: string, found: T | undefined): T {
  if (found === undefined) throw notFound(`${kind} not found`);
  if (found.accountId !== account.id) {
    throw new ApiError('permission_denied', `The ${kind.toLowerCase()} belongs to another company`);
  }
  return found;
}

function findRoleHere(call: ApiCall): Role {
  return ofThisAccount(call, 'Role', roleById(call.context.db, call.params.id!));
}

function findPair(call: ApiCall): { role: Role; user: User } {
  requireAdmin(call);
  const role = findRoleHere(call);
  return { role, user: ofThisAccount(call, 'User', userById(call.context.db, call.params.user!)) };
}

const withoutUser = (method: 'PUT' | 'DELETE') =>
  defineEndpoint({
    id: method === 'PUT' ? 'addUnnamedUserToRole' : 'removeUnnamedUserFromRole',
    method,
    path,
    refuses: true,
    summary: 'Always returns 400, because the user is missing from the path',
    basis: 'decided',
    decided: 'always returns 400',
    permission,
    act: () => {
      throw badRequest('A user ID is missing after /users/');
    },
  });

export default {
  name: 'role-users',
  summary: 'The users who have a role',
  endpoints: [
    defineEndpoint({
      id: 'listRoleUsers',
      method: 'GET',
      path,
      summary: 'The users who have a role',
      basis: 'document',
      permission,
      query: pageQuery,
      answer: {
        status: 200,
        data: Type.Object({
          users: Type.Array(
            defineModel('RoleUser', { first_name: Type.String(), last_name: Type.String(), email: Type.String() }),
          ),
        }),
      },
      find: (call) => findRoleHere(call),
      do: ({ context, query }, role) => {
        const listed = holdersOf(context.db, role.id, query);
        return listResult('users', listed, ({ first_name, last_name, email }) => ({ first_name, last_name, email }));
      },
    }),
    defineEndpoint({
      id: 'addUserToRole',
      method: 'PUT',
      path: `${path}/{user}`,
      summary: 'Assigns a role to a user, replacing the previous role',
      basis: 'document',
      decided: 'the role replaces the previous one',
      permission,
      body: {},
      find: (call) => findPair(call),
      act: (call, { role, user }) => assignRole(call, user, role),
    }),
    defineEndpoint({
      id: 'removeUserFromRole',
      method: 'DELETE',
      path: `${path}/{user}`,
      summary: 'Removes a role from a user, who then has no role',
      basis: 'document',
      decided: 'the user then has no role',
      permission,
      find: (call) => findPair(call),
      act: (call, { role, user }) => withdrawRole(call, user, role),
    }),
    withoutUser('PUT'),
    withoutUser('DELETE'),
  ],
} satisfies Resource;
