import type { Listed, Page } from '../http/page.ts';
import type { Database } from './database.ts';
import { listRows } from './listing.ts';

/** Where a group's members see one of the group's default dashboards. */
export const tabVisibilities = ['library', 'dashboard', 'permanent'] as const;
export type TabVisibility = (typeof tabVisibilities)[number];

/** A dashboard that all members of a group see by default. */
export interface DefaultTab {
  readonly id: string;
  readonly groupId: string;
  readonly tabId: string;
  /** Name of the dashboard. */
  readonly tabName: string;
  readonly description: string;
  readonly canEdit: 0 | 1;
  readonly visibility: TabVisibility;
  readonly position: number;
}

const columns = `d.id, d.group_id as groupId, d.tab_id as tabId, t.name as tabName, t.description,
  d.can_edit as canEdit, d.visibility, d.position`;
const from = 'from group_default_tabs d join tabs t on t.id = d.tab_id';

/** Returns the group's default dashboard with this ID, or undefined if the ID belongs to another group. */
export function defaultTabById(db: Database, groupId: string, id: string): DefaultTab | undefined {
  return db.get<DefaultTab>(`select ${columns} ${from} where d.id = ? and d.group_id = ?`, id, groupId);
}

/** Returns the group's default dashboard that has this `tabId`. */
export function defaultTabOf(db: Database, groupId: string, tabId: string): DefaultTab | undefined {
  return db.get<DefaultTab>(`select ${columns} ${from} where d.group_id = ? and d.tab_id = ?`, groupId, tabId);
}

/** Returns one page of a group's default dashboards, in the order that the group sets. */
export function defaultTabsOf(db: Database, groupId: string, page: Page): Listed<DefaultTab> {
  const order = 'd.position, d.created_at, d.id';
  return listRows(db, { columns, from: `${from} where d.group_id = ?`, order }, [groupId], page);
}

/** Returns the position after the group's last default dashboard. */
export function nextPosition(db: Database, groupId: string): number {
  const sql = 'select coalesce(max(position) + 1, 0) as next from group_default_tabs where group_id = ?';
  return db.get<{ next: number }>(sql, groupId)!.next;
}

interface NewDefaultTab extends Omit<DefaultTab, 'tabName' | 'description'> {
  readonly createdAt: number;
}

export function insertDefaultTab(db: Database, given: NewDefaultTab): void {
  const { id, groupId, tabId, canEdit, visibility, position, createdAt } = given;
  db.insert('group_default_tabs', { id, groupId, tabId, canEdit, visibility, position, createdAt });
}

/** Changes only the given fields. */
export function updateDefaultTab(
  db: Database,
  id: string,
  { can_edit, visibility, index }: { can_edit?: boolean; visibility?: TabVisibility; index?: number },
): void {
  const canEdit = can_edit === undefined ? undefined : can_edit ? 1 : 0;
  db.update('group_default_tabs', id, { canEdit, visibility, position: index });
}

export function deleteDefaultTab(db: Database, id: string): void {
  db.run('delete from group_default_tabs where id = ?', id);
}

/** Returns how many Klips are on the dashboard, and how many of them are shared with the group. */
export function countKlips(db: Database, { tabId, groupId }: DefaultTab): { total: number; shared: number } {
  const sql = `select count(*) as total, count(s.klip_id) as shared from klip_instances i
    left join klip_shares s on s.klip_id = i.klip_id and s.kind = 'group' and s.holder_id = ? where i.tab_id = ?`;
  return db.get(sql, groupId, tabId)!;
}
