import { Type } from 'typebox';
import { newId } from '../../lib/ids.ts';
import { permissions } from '../auth/permissions.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { badRequest } from '../http/api-error.ts';
import { companyName, nothing, someName, someText } from '../http/fields.ts';
import { listResult, pageOf, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { describeNamed, findRole, personSchema, requireOwnRole, roleSummary } from '../people-rules.ts';
import {
  allHoldersOf,
  countHolders,
  createRole,
  deleteRole,
  permissionsIn,
  type Role,
  roleByName,
  rolesOfAccount,
  updateRole,
} from '../store/roles.ts';

const permission = ['user.manage'] as const;
const permissionNames = Type.Array(Type.Enum(permissions, { 'x-model': 'Permission' }));

const detail = defineModel('Role', {
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  company: companyName,
  users: Type.Optional(Type.Array(personSchema)),
  num_users: Type.Optional(Type.Integer()),
  permissions: Type.Optional(permissionNames),
});

const change = {
  name: Type.Optional(someName),
  description: Type.Optional(someText),
  permissions: Type.Optional(permissionNames),
};

function describe({ context, account, query }: ApiCall<{ full: boolean }>, role: Role): object {
  const fields = { ...describeNamed(role), company: account.name };
  if (!query.full) return fields;
  return {
    ...fields,
    users: allHoldersOf(context.db, role.id),
    num_users: countHolders(context.db, role.id),
    permissions: permissionsIn(role),
  };
}

/** Checks that the name isn't used by another role in the account. */
function checkName({ context, account }: ApiCall, name: string | undefined, self?: string): void {
  const known = name === undefined ? undefined : roleByName(context.db, account.id, name);
  if (known !== undefined && known.id !== self) throw badRequest('Field "name" is already used by another role');
}

type Change = { name?: string; description?: string; permissions?: (typeof permissions)[number][] };

/**
 * Changes a role. Fields that the request doesn't contain stay unchanged. If the request contains permissions, they
 * replace all previous ones.
 */
function update(call: ApiCall<unknown, Change>, role: Role): void {
  const { db } = call.context;
  const { permissions: given, ...texts } = call.body;
  requireOwnRole(role);
  checkName(call, texts.name, role.id);
  db.durably(() => updateRole(db, role.id, { ...texts, ...(given && { permissions: [...new Set(given)] }) }));
}

export default {
  name: 'roles',
  summary: 'Named sets of permissions; every user has one',
  endpoints: [
    defineEndpoint({
      id: 'listRoles',
      method: 'GET',
      path: '/roles',
      summary: 'The roles of the account, including the built-in ones',
      basis: 'document',
      permission,
      query: pageQuery,
      answer: { status: 200, data: Type.Object({ roles: Type.Array(roleSummary) }) },
      do: ({ context, account, query }) =>
        listResult('roles', rolesOfAccount(context.db, account.id, query), describeNamed),
    }),
    defineEndpoint({
      id: 'getRole',
      method: 'GET',
      path: '/roles/{id}',
      summary: 'One role; with `full`, also its users and permissions',
      basis: 'document',
      permission,
      query: { full: Type.Boolean({ default: false }) },
      answer: { status: 200, data: detail },
      find: (call) => findRole(call),
      do: (call, role) => ({ data: describe(call, role) }),
    }),
    defineEndpoint({
      id: 'createRole',
      method: 'POST',
      path: '/roles',
      summary: 'Creates a role',
      basis: 'document',
      decided: 'the list of permission names',
      missing: 'any effect of permissions that no endpoint requires',
      permission,
      body: { ...change, name: someName },
      answer: { status: 201, data: nothing },
      do: (call) => {
        const { context, account, body } = call;
        const { name, description = '', permissions: given = [] } = body;
        checkName(call, name);
        const role = { id: newId(), accountId: account.id, name, description, permissions: [...new Set(given)] };
        context.db.durably(() => createRole(context.db, role, context.clock.now()));
        return { meta: { location: `/roles/${role.id}` } };
      },
    }),
    defineEndpoint({
      id: 'updateRole',
      method: 'PUT',
      path: '/roles/{id}',
      summary: 'Changes a role; given permissions replace the previous ones',
      basis: 'document',
      decided: "built-in roles can't be changed (403)",
      missing: 'any effect of permissions that no endpoint requires',
      permission,
      body: change,
      find: (call) => findRole(call),
      act: (call, role) => update(call, role),
    }),
    defineEndpoint({
      id: 'deleteRole',
      method: 'DELETE',
      path: '/roles/{id}',
      summary: 'Removes a role; users who had it then have no role',
      basis: 'document',
      decided: 'built-in roles cannot be removed (403)',
      permission,
      find: (call) => findRole(call),
      act: ({ context }, role) => context.db.durably(() => deleteRole(context.db, requireOwnRole(role).id)),
    }),
    defineEndpoint({
      id: 'listRolePermissions',
      method: 'GET',
      path: '/roles/{id}/permissions',
      summary: 'The permissions of a role',
      basis: 'decided',
      permission,
      query: pageQuery,
      answer: { status: 200, data: Type.Object({ permissions: permissionNames }) },
      find: (call) => findRole(call),
      do: ({ query }, role) => listResult('permissions', pageOf(permissionsIn(role), query)),
    }),
    defineEndpoint({
      id: 'replaceRolePermissions',
      method: 'PUT',
      path: '/roles/{id}/permissions',
      summary: 'Replaces the permissions of a role',
      basis: 'decided',
      permission,
      body: { permissions: permissionNames },
      find: (call) => findRole(call),
      act: (call, role) => update(call as ApiCall<unknown, Change>, role),
    }),
    defineEndpoint({
      id: 'removeRolePermissions',
      method: 'DELETE',
      path: '/roles/{id}/permissions',
      summary: 'Removes the permissions in the body from a role; permissions that it lacks are ignored',
      basis: 'decided',
      permission,
      body: { permissions: permissionNames },
      find: (call) => findRole(call),
      act: ({ context: { db }, body }, role) => {
        const kept = permissionsIn(requireOwnRole(role)).filter((name) => !body.permissions.includes(name));
        db.durably(() => updateRole(db, role.id, { permissions: kept }));
      },
    }),
  ],
} satisfies Resource;
