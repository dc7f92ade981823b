import { newId } from '../../lib/ids.ts';
import { builtInRoles } from '../auth/permissions.ts';
import type { Account } from './accounts.ts';
import type { Database } from './database.ts';
import type { User } from './users.ts';

/** Functions that insert accounts and their users, for the first company and for fixtures. */

type AccountGiven = Pick<Account, 'id' | 'name' | 'createdAt'> &
  Partial<Pick<Account, 'plan' | 'status' | 'requestsPerDay' | 'requestsPerSecond'>> & { readonly parentId?: string };

/**
 * Creates an account, or updates the account that has this ID. An update doesn't change a status or rate that is
 * absent.
 */
export function insertAccount(db: Database, given: AccountGiven): string {
  db.run(
    `insert into accounts (id, parent_id, name, plan, status, requests_per_day, requests_per_second, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set name = excluded.name, plan = excluded.plan,
     status = iif(?, excluded.status, status),
     requests_per_day = iif(?, excluded.requests_per_day, requests_per_day),
     requests_per_second = iif(?, excluded.requests_per_second, requests_per_second)`,
    given.id,
    given.parentId ?? null,
    given.name,
    given.plan ?? null,
    given.status ?? 'active',
    given.requestsPerDay ?? null,
    given.requestsPerSecond ?? null,
    given.createdAt,
    given.status === undefined ? 0 : 1,
    given.requestsPerDay === undefined ? 0 : 1,
    given.requestsPerSecond === undefined ? 0 : 1,
  );
  return given.id;
}

/**
 * Creates those built-in roles that the account doesn't have yet. Returns the IDs of all the account's roles by name.
 */
export function insertBuiltInRoles(db: Database, accountId: string, now: number): Map<string, string> {
  for (const name of builtInRoles) {
    db.insert(
      'roles',
      { id: newId(), accountId, name, builtIn: name, createdAt: now },
      'on conflict (account_id, name) do update set built_in = excluded.built_in',
    );
  }
  const rows = db.all<{ id: string; name: string }>('select id, name from roles where account_id = ?', accountId);
  return new Map(rows.map(({ id, name }) => [name, id]));
}

interface UserGiven extends Pick<User, 'id' | 'accountId' | 'email' | 'firstName' | 'lastName' | 'createdAt'> {
  readonly roleId: string;
  readonly externalId?: string | null;
  /** Hash of the user's password. Null if the user can't sign in with a password. */
  readonly password?: string | null;
}

/**
 * Creates a user, or updates the user who has this ID. An update doesn't change the external ID, nor the password if
 * it's absent.
 */
export function insertUser(db: Database, given: UserGiven): string {
  const { id, accountId, roleId, email, firstName, lastName, externalId = null, password = null, createdAt } = given;
  db.insert(
    'users',
    { id, accountId, roleId, email, firstName, lastName, externalId, password, createdAt },
    `on conflict (id) do update set role_id = excluded.role_id, email = excluded.email,
     first_name = excluded.first_name, last_name = excluded.last_name,
     password = coalesce(excluded.password, password)`,
  );
  return id;
}

/** Stores the hash of an API key. A key that already exists stays with its user. */
export function insertKey(db: Database, { hash, userId, now }: { hash: Buffer; userId: string; now: number }): void {
  db.insert('api_keys', { hash, userId, createdAt: now }, 'on conflict do nothing');
}

interface RoleGiven {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly permissions: readonly string[];
  readonly now: number;
}

/** Creates a role, or updates the name and permissions of the role that has this ID. */
export function insertRole(db: Database, { id, accountId, name, permissions, now }: RoleGiven): void {
  db.insert(
    'roles',
    { id, accountId, name, permissions: JSON.stringify(permissions), createdAt: now },
    'on conflict (id) do update set name = excluded.name, permissions = excluded.permissions',
  );
}

/** Creates a group, or renames the group that has this ID. */
export function insertGroup(
  db: Database,
  { id, accountId, name, now }: { id: string; accountId: string; name: string; now: number },
): void {
  const row = { id, accountId, name, createdAt: now };
  db.insert('groups', row, 'on conflict (id) do update set name = excluded.name');
}

/** Replaces the group's members with these users. */
export function setMembers(db: Database, groupId: string, userIds: readonly string[]): void {
  db.run('delete from group_members where group_id = ?', groupId);
  const sql = 'insert into group_members (group_id, user_id) values (?, ?) on conflict do nothing';
  for (const userId of userIds) db.run(sql, groupId, userId);
}
