import { type BuiltInRole, type Permission, permissionsOf } from '../auth/permissions.ts';
import type { Listed, Page } from '../http/page.ts';
import type { Database } from './database.ts';
import { listRows } from './listing.ts';
import { type Person, personColumns } from './users.ts';

export interface Role {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly description: string;
  readonly builtIn: BuiltInRole | null;
  /**
   * The role's permissions as a JSON array. For a built-in role, the array is empty; use {@link permissionsIn} instead.
   */
  readonly permissions: string;
}

const columns = 'r.id, r.account_id as accountId, r.name, r.description, r.built_in as builtIn, r.permissions';

export function roleById(db: Database, id: string): Role | undefined {
  return db.get<Role>(`select ${columns} from roles r where r.id = ?`, id);
}

/** Returns the account's role that has exactly this name (case-sensitive). */
export function roleByName(db: Database, accountId: string, name: string): Role | undefined {
  return db.get<Role>(`select ${columns} from roles r where r.account_id = ? and r.name = ?`, accountId, name);
}

export function rolesOfAccount(db: Database, accountId: string, page: Page): Listed<Role> {
  const from = 'from roles r where r.account_id = ?';
  return listRows(db, { columns, from, order: 'r.created_at, r.id' }, [accountId], page);
}

/**
 * Returns a role's permissions. The permissions of a built-in role are defined by this version of the service, not by
 * the database.
 */
export function permissionsIn(role: Role): readonly Permission[] {
  return role.builtIn === null ? (JSON.parse(role.permissions) as Permission[]) : permissionsOf(role.builtIn);
}

interface RoleGiven extends Omit<Role, 'builtIn' | 'permissions'> {
  readonly permissions: readonly Permission[];
}

export function createRole(db: Database, role: RoleGiven, now: number): void {
  const { id, accountId, name, description, permissions } = role;
  db.insert('roles', { id, accountId, name, description, permissions: JSON.stringify(permissions), createdAt: now });
}

/** Changes only the given fields. */
export function updateRole(
  db: Database,
  id: string,
  given: { name?: string; description?: string; permissions?: readonly Permission[] },
): void {
  const { name, description, permissions } = given;
  db.update('roles', id, { name, description, permissions: permissions && JSON.stringify(permissions) });
}

/** Deletes a role. Users who had the role then have no role. */
export function deleteRole(db: Database, id: string): void {
  db.run('delete from roles where id = ?', id);
}

const holders = 'from users u where u.role_id = ?';

/** Returns one page of the users who have a role, oldest user first. */
export function holdersOf(db: Database, roleId: string, page: Page): Listed<Person> {
  return listRows(db, { columns: personColumns, from: holders, order: 'u.created_at, u.id' }, [roleId], page);
}

/** Returns all users who have a role, oldest user first. */
export function allHoldersOf(db: Database, roleId: string): Person[] {
  return db.all<Person>(`select ${personColumns} ${holders} order by u.created_at, u.id`, roleId);
}

export function countHolders(db: Database, roleId: string): number {
  return db.get<{ n: number }>(`select count(*) as n ${holders}`, roleId)!.n;
}

/** Sets a user's role. A user has at most one role. */
export function giveRole(db: Database, userId: string, roleId: string | null): void {
  db.run('update users set role_id = ? where id = ?', roleId, userId);
}
