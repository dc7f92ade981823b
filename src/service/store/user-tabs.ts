import { newId } from '../../lib/ids.ts';
import type { Listed, Page } from '../http/page.ts';
import type { Database } from './database.ts';
import { listRows } from './listing.ts';

/** A dashboard on a user's screen. The fields are named as in responses. */
export interface TabInstance {
  readonly id: string;
  readonly tab_id: string;
  /** The name of the dashboard. */
  readonly name: string;
  readonly context: string;
}

const columns = 'i.id, i.tab_id, t.name, i.context';
const from = 'from user_tab_instances i join tabs t on t.id = i.tab_id';

/** Returns one page of the dashboards on a user's screen, in the order in which they were added. */
export function tabInstancesOf(db: Database, userId: string, page: Page): Listed<TabInstance> {
  return listRows(db, { columns, from: `${from} where i.user_id = ?`, order: 'i.place' }, [userId], page);
}

/** Returns all dashboards on a user's screen, in the order in which they were added. */
export function allTabInstancesOf(db: Database, userId: string): TabInstance[] {
  return db.all<TabInstance>(`select ${columns} ${from} where i.user_id = ? order by i.place`, userId);
}

/**
 * Adds a dashboard to a user's screen unless the dashboard is already there. Returns the dashboard's instance on the
 * screen.
 */
export function putOnScreen(db: Database, userId: string, tabId: string): TabInstance {
  const sql = `insert into user_tab_instances (id, user_id, tab_id, context) values (?, ?, ?, 'desktop')
    on conflict do nothing`;
  db.run(sql, newId(), userId, tabId);
  return db.get<TabInstance>(`select ${columns} ${from} where i.user_id = ? and i.tab_id = ?`, userId, tabId)!;
}

/** Returns whether it existed. */
export function takeFromScreen(db: Database, userId: string, id: string): boolean {
  return db.run('delete from user_tab_instances where id = ? and user_id = ?', id, userId) === 1;
}
