import { timingSafeEqual } from 'node:crypto';
import { type BuiltInRole, type Permission, permissionsOf } from '../auth/permissions.ts';
import type { Listed, Page } from '../http/page.ts';
import type { Database } from './database.ts';
import { filtered, listRows } from './listing.ts';

export interface User {
  readonly id: string;
  readonly accountId: string;
  readonly roleId: string | null;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly dateLastLogin: number | null;
  readonly createdAt: number;
  readonly externalId: string | null;
}

const columns = `u.id, u.account_id as accountId, u.role_id as roleId, u.email, u.first_name as firstName,
  u.last_name as lastName, u.date_last_login as dateLastLogin, u.created_at as createdAt,
  u.external_id as externalId`;

export function userById(db: Database, id: string): User | undefined {
  return db.get<User>(`select ${columns} from users u where u.id = ?`, id);
}

/** Returns the user who owns the API key with this hash. */
export function userByKey(db: Database, hash: Buffer): User | undefined {
  const found = db.get<{ userId: string; hash: Uint8Array }>(
    'select user_id as userId, hash from api_keys where hash = ?',
    hash,
  );
  return found !== undefined && timingSafeEqual(found.hash, hash) ? userById(db, found.userId) : undefined;
}

/** Returns the user with this e-mail address (case-insensitive), including the password hash. */
export function userByEmail(db: Database, email: string): (User & { password: string | null }) | undefined {
  return db.get(`select ${columns}, u.password from users u where lower(u.email) = lower(?)`, email);
}

/** Returns a user's permissions, which the user's role defines. */
export function roleOf(db: Database, user: User): { isAdmin: boolean; permissions: ReadonlySet<Permission> } {
  const sql = 'select built_in as builtIn, permissions from roles where id = ?';
  const role = db.get<{ builtIn: BuiltInRole | null; permissions: string }>(sql, user.roleId ?? '');
  if (role === undefined) return { isAdmin: false, permissions: new Set() };
  const names = role.builtIn === null ? (JSON.parse(role.permissions) as Permission[]) : permissionsOf(role.builtIn);
  return { isAdmin: role.builtIn === 'Admin', permissions: new Set(names) };
}

/** Returns a user's groups, oldest group first. */
export function groupsOf(db: Database, user: User): { id: string; name: string }[] {
  const sql = `select g.id, g.name from group_members m join groups g on g.id = m.group_id
    where m.user_id = ? order by g.created_at, g.id`;
  return db.all(sql, user.id);
}

/** A user in a list of group members or role holders. */
export interface Person {
  readonly id: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string;
}

export const personColumns = 'u.id, u.first_name, u.last_name, u.email';

interface UserFilter extends Page {
  /** E-mail address, in any case. */
  readonly email?: string;
  readonly external_id?: string;
}

/** Returns one page of an account's users that match the filter, oldest first. */
export function usersOfAccount(db: Database, accountId: string, filter: UserFilter): Listed<User> {
  const { from, values } = filtered('from users u where u.account_id = ?', [accountId], {
    'lower(u.email) = lower(?)': [filter.email],
    'u.external_id = ?': [filter.external_id],
  });
  return listRows(db, { columns, from, order: 'u.created_at, u.id' }, values, filter);
}

/** Returns all users of an account, oldest first. */
export function allUsersOf(db: Database, accountId: string): Person[] {
  return db.all(`select ${personColumns} from users u where u.account_id = ? order by u.created_at, u.id`, accountId);
}

export function countUsers(db: Database, accountId: string): number {
  return db.get<{ n: number }>('select count(*) as n from users where account_id = ?', accountId)!.n;
}

interface UserChange {
  readonly email?: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly external_id?: string;
}

/** Changes those fields of a user that are given. `password` is a hash. */
export function updateUser(db: Database, id: string, given: UserChange, password: string | null): void {
  const { email, first_name, last_name, external_id } = given;
  db.update('users', id, { email, first_name, last_name, external_id, password: password ?? undefined });
}

/**
 * Deletes a user with the user's API keys, memberships, property values and shares. Keeps the assets that the user
 * created.
 */
export function deleteUser(db: Database, id: string): void {
  db.run('delete from users where id = ?', id);
}

/** Records that a user signed in. `now` is in epoch milliseconds. */
export function noteSignIn(db: Database, user: User, now: number): void {
  db.run('update users set date_last_login = ? where id = ?', now, user.id);
}
