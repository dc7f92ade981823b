import type { Database } from './database.ts';

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

/** A group or a user that something can be shared with. */
interface Holder {
  readonly id: string;
  readonly accountId: string;
}

export function holderById(db: Database, kind: HolderKind, id: string): Holder | undefined {
  const table = kind === 'group' ? 'groups' : 'users';
  return db.get<Holder>(`select id, account_id as accountId from ${table} where id = ?`, id);
}

export function groupRights(db: Database, datasourceId: string): GroupRight[] {
  const sql = `select g.id as group_id, g.name as group_name, s.can_edit from datasource_shares s
    join groups g on g.id = s.holder_id where s.datasource_id = ? and s.kind = 'group' order by s.created_at, g.id`;
  return asRights(db.all<GroupRight & { can_edit: 0 | 1 }>(sql, datasourceId));
}

export function userRights(db: Database, datasourceId: string): UserRight[] {
  const sql = `select u.id as user_id, u.first_name, u.last_name, s.can_edit from datasource_shares s
    join users u on u.id = s.holder_id where s.datasource_id = ? and s.kind = 'user' order by s.created_at, u.id`;
  return asRights(db.all<UserRight & { can_edit: 0 | 1 }>(sql, datasourceId));
}

function asRights<T extends { can_edit: unknown }>(rows: readonly T[]): (T & { can_edit: boolean })[] {
  return rows.map((row) => ({ ...row, can_edit: row.can_edit === 1 }));
}

export function share(
  db: Database,
  given: { datasourceId: string; kind: HolderKind; holderId: string; canEdit: boolean; now: number },
): void {
  db.run(
    `insert into datasource_shares (datasource_id, kind, holder_id, can_edit, created_at) values (?, ?, ?, ?, ?)
     on conflict do update set can_edit = excluded.can_edit`,
    given.datasourceId,
    given.kind,
    given.holderId,
    given.canEdit ? 1 : 0,
    given.now,
  );
}

/** Answers whether it was shared. */
export function unshare(db: Database, datasourceId: string, kind: HolderKind, holderId: string): boolean {
  const sql = 'delete from datasource_shares where datasource_id = ? and kind = ? and holder_id = ?';
  return db.run(sql, datasourceId, kind, holderId) === 1;
}
