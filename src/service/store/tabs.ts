import type { Caller } from '../auth/authenticate.ts';
import type { Listed, Page } from '../http/page.ts';
import type { LayoutType } from '../tab-layout.ts';
import type { Account } from './accounts.ts';
import type { Database } from './database.ts';
import type { Asset, SharedAsset } from './shares.ts';
import { listVisible } from './visible.ts';

/** A dashboard. */
export interface Tab extends Asset {
  readonly layoutType: LayoutType;
  /** Number of columns in a grid layout. The number of columns in a column layout depends only on its type. */
  readonly cols: number;
  readonly updatedAt: number;
}

const columns = `t.id, t.account_id as accountId, t.name, t.description, t.layout_type as layoutType, t.cols,
  t.created_by as createdBy, t.created_at as createdAt, t.updated_at as updatedAt`;

export function tabById(db: Database, id: string): Tab | undefined {
  return db.get<Tab>(`select ${columns} from tabs t where t.id = ?`, id);
}

/** Converts a dashboard to a shareable asset. */
export function tabAsShared({ id, accountId, createdBy }: Tab): SharedAsset {
  return { kind: 'tab', id, accountId, createdBy };
}

/** Returns one page of the dashboards that the caller may see. */
export function visibleTabs(db: Database, account: Account, caller: Caller, page: Page): Listed<Tab> {
  return listVisible(db, { kind: 'tab', account, caller }, columns, page);
}

export function insertTab(db: Database, tab: Omit<Tab, 'updatedAt'>): void {
  const { id, accountId, name, description, layoutType, cols, createdBy, createdAt } = tab;
  const own = { id, accountId, name, description, createdBy, createdAt, updatedAt: createdAt };
  db.insert('tabs', { ...own, layoutType, cols });
}

/** Changes a dashboard's modification time, and those fields that are given. */
export function updateTab(
  db: Database,
  id: string,
  {
    name,
    description,
    layoutType,
    cols,
    now,
  }: Partial<Pick<Tab, 'name' | 'description' | 'layoutType' | 'cols'>> & { now: number },
): void {
  db.update('tabs', id, { name, description, layoutType, cols, updatedAt: now });
}

export function deleteTab(db: Database, id: string): void {
  db.run('delete from tabs where id = ?', id);
}
