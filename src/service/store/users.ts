import { timingSafeEqual } from 'node:crypto';
import { type BuiltInRole, type Permission, permissionsOf } from '../auth/permissions.ts';
import type { Database } from './database.ts';

export interface User {
  readonly id: string;
  readonly accountId: string;
  readonly roleId: string | null;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly isLockedOut: 0 | 1;
  readonly dateLastLogin: number | null;
  readonly createdAt: number;
}

const columns = `u.id, u.account_id as accountId, u.role_id as roleId, u.email, u.first_name as firstName,
  u.last_name as lastName, u.is_locked_out as isLockedOut, u.date_last_login as dateLastLogin,
  u.created_at as createdAt`;

export function userById(db: Database, id: string): User | undefined {
  return db.get<User>(`select ${columns} from users u where u.id = ?`, id);
}

export function userByKey(db: Database, hash: Buffer): User | undefined {
  const sql = `select ${columns}, k.hash from api_keys k join users u on u.id = k.user_id where k.hash = ?`;
  const found = db.get<User & { hash: Buffer }>(sql, hash);
  return found !== undefined && timingSafeEqual(found.hash, hash) ? found : undefined;
}

export function userByEmail(db: Database, email: string): (User & { password: string | null }) | undefined {
  return db.get(`select ${columns}, u.password from users u where lower(u.email) = lower(?)`, email);
}

/** What a user may do, by the one role that they have. */
export function roleOf(db: Database, user: User): { isAdmin: boolean; permissions: ReadonlySet<Permission> } {
  const sql = 'select built_in as builtIn, permissions from roles where id = ?';
  const role = db.get<{ builtIn: BuiltInRole | null; permissions: string }>(sql, user.roleId ?? '');
  if (role === undefined) return { isAdmin: false, permissions: new Set() };
  const names = role.builtIn === null ? (JSON.parse(role.permissions) as Permission[]) : permissionsOf(role.builtIn);
  return { isAdmin: role.builtIn === 'Admin', permissions: new Set(names) };
}

export function groupsOf(db: Database, user: User): { id: string; name: string }[] {
  const sql = `select g.id, g.name from group_members m join groups g on g.id = m.group_id
    where m.user_id = ? order by g.created_at, g.id`;
  return db.all(sql, user.id);
}
