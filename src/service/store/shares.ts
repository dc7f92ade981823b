import type { Caller } from '../auth/authenticate.ts';
import type { Database } from './database.ts';

/**
 * Kinds of assets that can be shared. Each kind has a table of share rights that is named `<kind>_shares` and has a
 * column `<kind>_id`.
 */
export type SharedKind = 'datasource' | 'klip' | 'tab';

/** What all assets have. */
export interface Asset {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly description: string;
  readonly createdBy: string | null;
  readonly createdAt: number;
}

/** One shareable asset. */
export interface SharedAsset {
  readonly kind: SharedKind;
  readonly id: string;
  readonly accountId: string;
  readonly createdBy: string | null;
}

type Named = Pick<SharedAsset, 'kind' | 'id'>;

interface GroupRight {
  readonly group_id: string;
  readonly group_name: string;
  readonly can_edit: boolean;
}

interface UserRight {
  readonly user_id: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly can_edit: boolean;
}

export type HolderKind = 'group' | 'user';

/** A group or user with whom an asset can be shared. */
interface Holder {
  readonly id: string;
  readonly accountId: string;
}

/** Returns the group or user with this ID, and the account that it belongs to. */
export function holderById(db: Database, kind: HolderKind, id: string): Holder | undefined {
  const table = kind === 'group' ? 'groups' : 'users';
  return db.get<Holder>(`select id, account_id as accountId from ${table} where id = ?`, id);
}

/** Returns the groups that an asset is shared with, and whether they may edit it. */
export function groupRights(db: Database, { kind, id }: Named): GroupRight[] {
  const sql = `select g.id as group_id, g.name as group_name, s.can_edit from ${kind}_shares s
    join groups g on g.id = s.holder_id where s.${kind}_id = ? and s.kind = 'group' order by s.created_at, g.id`;
  return asRights(db.all<GroupRight & { can_edit: 0 | 1 }>(sql, id));
}

/** Returns the users that an asset is shared with directly, and whether they may edit it. */
export function userRights(db: Database, { kind, id }: Named): UserRight[] {
  const sql = `select u.id as user_id, u.first_name, u.last_name, s.can_edit from ${kind}_shares s
    join users u on u.id = s.holder_id where s.${kind}_id = ? and s.kind = 'user' order by s.created_at, u.id`;
  return asRights(db.all<UserRight & { can_edit: 0 | 1 }>(sql, id));
}

function asRights<T extends { can_edit: unknown }>(rows: readonly T[]): (T & { can_edit: boolean })[] {
  return rows.map((row) => ({ ...row, can_edit: row.can_edit === 1 }));
}

interface Right {
  readonly kind: HolderKind;
  readonly holderId: string;
  readonly canEdit: boolean;
  readonly now: number;
}

/** Adds or changes a share right. */
export function share(db: Database, { kind, id }: Named, { kind: holder, holderId, canEdit, now }: Right): void {
  const row = { [`${kind}_id`]: id, kind: holder, holderId, canEdit: canEdit ? 1 : 0, createdAt: now };
  db.insert(`${kind}_shares`, row, 'on conflict do update set can_edit = excluded.can_edit');
}

/** Returns whether it was shared. */
export function unshare(db: Database, { kind, id }: Named, holder: HolderKind, holderId: string): boolean {
  const sql = `delete from ${kind}_shares where ${kind}_id = ? and kind = ? and holder_id = ?`;
  return db.run(sql, id, holder, holderId) === 1;
}

const heldBy = `(s.kind = 'user' and s.holder_id = ?) or
  (s.kind = 'group' and s.holder_id in (select group_id from group_members where user_id = ?))`;

interface Condition {
  readonly sql: string;
  /** The values for the condition's placeholders. */
  readonly values: readonly [number, string, string, string];
}

/**
 * Returns an SQL condition that selects the assets visible to the caller. Administrators see all assets. Other users
 * see the assets that they created and the assets that are shared with them or their groups. `alias` is the alias of
 * the assets' table.
 */
export function visibleTo(caller: Caller, kind: SharedKind, alias: string): Condition {
  const { id } = caller.user;
  const sql = `(? or ${alias}.created_by = ? or exists (
    select 1 from ${kind}_shares s where s.${kind}_id = ${alias}.id and (${heldBy})))`;
  return { sql, values: [administers(caller, kind) ? 1 : 0, id, id, id] };
}

/** Returns whether the caller may see and change all assets of this kind in the account. */
export function administers(caller: Caller, kind: SharedKind): boolean {
  return caller.isAdmin || caller.permissions.has(`admin.${kind}`);
}

/**
 * Returns whether the caller may see the asset. Callers may see an asset if they administer its kind, if they created
 * it, or if it's shared with them or one of their groups.
 */
export function canSee(db: Database, asset: SharedAsset, caller: Caller): boolean {
  return owns(asset, caller) || holdsRight(db, asset, caller, 0);
}

/** Returns whether the caller may edit the asset. A share that only lets the caller see the asset isn't enough. */
export function canEdit(db: Database, asset: SharedAsset, caller: Caller): boolean {
  return owns(asset, caller) || holdsRight(db, asset, caller, 1);
}

function owns({ kind, createdBy }: SharedAsset, caller: Caller): boolean {
  return administers(caller, kind) || createdBy === caller.user.id;
}

function holdsRight(db: Database, { kind, id }: Named, caller: Caller, atLeast: 0 | 1): boolean {
  const sql = `select 1 from ${kind}_shares s where s.${kind}_id = ? and s.can_edit >= ? and (${heldBy})`;
  return db.get(sql, id, atLeast, caller.user.id, caller.user.id) !== undefined;
}

/**
 * Returns whether the asset is shared with at least one of the user's groups. Direct shares with the user don't count.
 */
export function sharedWithGroupOf(db: Database, { kind, id }: Named, userId: string): boolean {
  const sql = `select 1 from ${kind}_shares s join group_members m on m.group_id = s.holder_id
    where s.${kind}_id = ? and s.kind = 'group' and m.user_id = ?`;
  return db.get(sql, id, userId) !== undefined;
}
