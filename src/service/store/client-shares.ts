import type { Database } from './database.ts';

interface ClientRight {
  readonly group_id: string;
  readonly group_name: string;
  readonly can_manage: boolean;
}

/** Returns the company's groups that a client is shared with, in the order of sharing. */
export function clientRights(db: Database, clientId: string): ClientRight[] {
  const sql = `select g.id as group_id, g.name as group_name, s.can_manage from client_shares s
    join groups g on g.id = s.group_id where s.account_id = ? order by s.created_at, g.id`;
  const rows = db.all<Omit<ClientRight, 'can_manage'> & { can_manage: 0 | 1 }>(sql, clientId);
  return rows.map((row) => ({ ...row, can_manage: row.can_manage === 1 }));
}

interface NewRight {
  readonly groupId: string;
  readonly canManage: boolean;
  readonly now: number;
}

/** Adds or changes a share right. */
export function shareClient(db: Database, clientId: string, { groupId, canManage, now }: NewRight): void {
  const row = { accountId: clientId, groupId, canManage: canManage ? 1 : 0, createdAt: now };
  db.insert('client_shares', row, 'on conflict do update set can_manage = excluded.can_manage');
}

/** Returns whether it was shared. */
export function unshareClient(db: Database, clientId: string, groupId: string): boolean {
  return db.run('delete from client_shares where account_id = ? and group_id = ?', clientId, groupId) === 1;
}
