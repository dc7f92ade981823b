import { Type } from 'typebox';
import type { ApiCall } from './endpoint.ts';
import { ApiError, forbidden, notFound } from './http/api-error.ts';
import { canonicalId } from './http/canonical-id.ts';
import { defineModel } from './model.ts';
import { addMember, groupById, removeMember, type UserGroup } from './store/groups.ts';
import { countHolders, giveRole, type Role, roleById } from './store/roles.ts';
import { roleOf, type User, userById } from './store/users.ts';

/** A user in a list of users. */
export const personSchema = defineModel('Person', {
  id: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  email: Type.String(),
});

const named = { id: Type.String(), name: Type.String(), description: Type.String() };

/** A group in a list. */
export const groupSummary = defineModel('GroupSummary', named);

/** A role in a list. */
export const roleSummary = defineModel('RoleSummary', named);

/** A dashboard that is assigned to a user. */
export const tabInstanceSchema = defineModel('TabInstance', {
  id: Type.String(),
  tab_id: Type.String(),
  name: Type.String(),
  context: Type.String(),
});

/** Formats a group or role as an item of a list. */
export function describeNamed({ id, name, description }: UserGroup | Role): object {
  return { id, name, description };
}

/** Returns a group of the account; by default, the group in the path. Throws 404 if there is none. */
export function findGroup({ context, account, params }: ApiCall, id = params.id!): UserGroup {
  const group = groupById(context.db, id);
  if (group?.accountId !== account.id) throw notFound(`Group not found: ${id}`);
  return group;
}

/** Returns a role of the account; by default, the role in the path. Throws 404 if there is none. */
export function findRole({ context, account, params }: ApiCall, id = params.id!): Role {
  const role = roleById(context.db, canonicalId(id));
  if (role?.accountId !== account.id) throw notFound(`Role not found: ${id}`);
  return role;
}

/** Returns a user of the account; by default, the user in the path. Throws 404 if there is none. */
export function findUser({ context, account, params }: ApiCall, id = params.id!): User {
  const user = userById(context.db, id);
  if (user?.accountId !== account.id) throw notFound(`User not found: ${id}`);
  return user;
}

/**
 * Throws unless the caller is an admin. Only admins may assign and remove roles, so that users can't promote
 * themselves.
 */
export function requireAdmin({ caller }: ApiCall): void {
  if (!caller.isAdmin) throw new ApiError('permission_denied', 'This operation requires the Admin role');
}

/**
 * Throws 403 unless the caller has all of the user's permissions. Callers must have them to change or delete the user.
 * Otherwise, a caller could set an admin's password, and thereby become an admin.
 */
export function requireMastery({ context, caller }: ApiCall, user: User): void {
  if (caller.isAdmin) return;
  const { isAdmin, permissions } = roleOf(context.db, user);
  if (isAdmin || [...permissions].some((name) => !caller.permissions.has(name))) {
    throw forbidden("The user has permissions that you don't have");
  }
}

/**
 * Throws 403 if the user is the account's last admin. Call this function in every transaction that changes or removes a
 * user's role.
 */
export function keepAnAdmin({ context }: ApiCall, user: User): void {
  const role = roleById(context.db, user.roleId ?? '');
  if (role?.builtIn === 'Admin' && countHolders(context.db, role.id) === 1) {
    throw forbidden('The Admin role must keep at least one user');
  }
}

/** Replaces a user's role. Throws 403 if the user already has the role, or if no admin would remain. */
export function assignRole(call: ApiCall, user: User, role: Role): void {
  const { db } = call.context;
  if (user.roleId === role.id) throw forbidden(`The user already has the ${role.name} role`);
  db.durably(() => {
    keepAnAdmin(call, user);
    giveRole(db, user.id, role.id);
  });
}

/** Removes a user's role. Throws 403 if the user has a different role, or if no admin would remain. */
export function withdrawRole(call: ApiCall, user: User, role: Role): void {
  const { db } = call.context;
  if (user.roleId !== role.id) throw forbidden(`The user does not have the ${role.name} role`);
  db.durably(() => {
    keepAnAdmin(call, user);
    giveRole(db, user.id, null);
  });
}

/**
 * The group and the user that a path identifies. Such a path is a group's path plus `/users/{user}` or a user's path
 * plus `/groups/{group}`.
 */
export interface Membership {
  readonly group: UserGroup;
  readonly user: User;
}

/** Adds the user to the group. Does nothing if the user is already a member. */
export function joinGroup({ context }: ApiCall, { group, user }: Membership): void {
  context.db.durably(() => addMember(context.db, group.id, user.id));
}

/** Removes the user from the group. Throws 404 if the user isn't a member. */
export function leaveGroup({ context }: ApiCall, { group, user }: Membership): void {
  const left = context.db.durably(() => removeMember(context.db, group.id, user.id));
  if (!left) throw notFound(`User ${user.id} is not in group ${group.id}`);
}

/**
 * Throws 403 if the role is built-in. Built-in roles can't be changed, because every account relies on them for its
 * administration and new versions of the service extend them.
 */
export function requireOwnRole(role: Role): Role {
  if (role.builtIn !== null) throw forbidden(`The built-in ${role.name} role cannot be changed or deleted`);
  return role;
}
