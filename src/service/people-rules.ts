import { Type } from 'typebox';
import type { ApiCall } from './endpoint.ts';
import { ApiError, forbidden, notFound } from './http/api-error.ts';
import { addMember, groupById, removeMember, type UserGroup } from './store/groups.ts';
import { countHolders, giveRole, type Role, roleById } from './store/roles.ts';
import { roleOf, type User, userById } from './store/users.ts';

/** A user in a list of users. */
export const personSchema = Type.Object({
  id: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  email: Type.String(),
});

/** A group or a role in a list. */
export const namedSchema = Type.Object({ id: Type.String(), name: Type.String(), description: Type.String() });

/** A dashboard that was put on a user's screen. */
export const tabInstanceSchema = Type.Object({
  id: Type.String(),
  tab_id: Type.String(),
  name: Type.String(),
  context: Type.String(),
});

/** A group or a role as lists show it. */
export function describeNamed({ id, name, description }: UserGroup | Role): object {
  return { id, name, description };
}

/** A group of the account, by default the one in the path; 404 if there is none. */
export function findGroup({ context, account, params }: ApiCall, id = params.id!): UserGroup {
  const group = groupById(context.db, id);
  if (group?.accountId !== account.id) throw notFound(`Group not found: ${id}`);
  return group;
}

/** A role of the account, found likewise. */
export function findRole({ context, account, params }: ApiCall, id = params.id!): Role {
  const role = roleById(context.db, id);
  if (role?.accountId !== account.id) throw notFound(`Role not found: ${id}`);
  return role;
}

/** A user of the account, found likewise. */
export function findUser({ context, account, params }: ApiCall, id = params.id!): User {
  const user = userById(context.db, id);
  if (user?.accountId !== account.id) throw notFound(`User not found: ${id}`);
  return user;
}

/** Only an admin may assign and remove roles, so that users can't promote themselves. */
export function requireAdmin({ caller }: ApiCall): void {
  if (!caller.isAdmin) throw new ApiError('permission_denied', 'This operation requires the role Admin');
}

/**
 * To change or remove a user, the caller must hold all permissions of that user. Otherwise setting an admin's password
 * would be a way to become one.
 */
export function requireMastery({ context, caller }: ApiCall, user: User): void {
  if (caller.isAdmin || caller.user.id === user.id) return;
  const { isAdmin, permissions } = roleOf(context.db, user);
  if (isAdmin || [...permissions].some((name) => !caller.permissions.has(name))) {
    throw forbidden("The user has permissions that you don't have");
  }
}

/** The same for roles: a caller can't add permissions that they don't hold. `before` is what the role held already. */
export function requireHeld({ caller }: ApiCall, permissions: readonly string[], before: readonly string[] = []): void {
  if (caller.isAdmin) return;
  const foreign = permissions.find((name) => !(caller.permissions as Set<string>).has(name) && !before.includes(name));
  if (foreign !== undefined) throw forbidden(`You can't grant a permission that you don't have: ${foreign}`);
}

/** Ensures that the account keeps an admin. Call it in each transaction in which a user loses their role. */
export function keepAnAdmin({ context }: ApiCall, user: User): void {
  const role = roleById(context.db, user.roleId ?? '');
  if (role?.builtIn === 'Admin' && countHolders(context.db, role.id) === 1) {
    throw forbidden('The Admin role must keep at least one user');
  }
}

/** Assigns a role to a user instead of the previous one; 403 if they have it already, or no admin would remain. */
export function assignRole(call: ApiCall, user: User, role: Role): void {
  const { db } = call.context;
  if (user.roleId === role.id) throw forbidden(`The user already has the role ${role.name}`);
  db.durably(() => {
    keepAnAdmin(call, user);
    giveRole(db, user.id, role.id);
  });
}

/** Removes the role; 403 if the user has another one, or no admin would remain. */
export function withdrawRole(call: ApiCall, user: User, role: Role): void {
  const { db } = call.context;
  if (user.roleId !== role.id) throw forbidden(`The user does not have the role ${role.name}`);
  db.durably(() => {
    keepAnAdmin(call, user);
    giveRole(db, user.id, null);
  });
}

/** The user and group in a path that ends in `/users/{user}` of a group or `/groups/{group}` of a user. */
export interface Membership {
  readonly group: UserGroup;
  readonly user: User;
}

/** A user who is already in the group stays in it. */
export function joinGroup({ context }: ApiCall, { group, user }: Membership): void {
  context.db.durably(() => addMember(context.db, group.id, user.id));
}

/** 404 for a user who is not in the group. */
export function leaveGroup({ context }: ApiCall, { group, user }: Membership): void {
  const left = context.db.durably(() => removeMember(context.db, group.id, user.id));
  if (!left) throw notFound(`The user ${user.id} is not in the group ${group.id}`);
}

/** Built-in roles stay as they are: every account is administered through them, and they grow with the service. */
export function requireOwnRole(role: Role): Role {
  if (role.builtIn !== null) throw forbidden(`The built-in role ${role.name} can be neither changed nor deleted`);
  return role;
}
