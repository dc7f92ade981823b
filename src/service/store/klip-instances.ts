import type { Listed, Page } from '../http/page.ts';
import type { Placed } from '../tab-layout.ts';
import type { Database } from './database.ts';
import { listRows } from './listing.ts';

/** A Klip placed on a dashboard, with its position. */
export interface KlipInstance extends Placed {
  readonly tabId: string;
  readonly klipId: string;
  /** The name of the Klip. */
  readonly name: string;
}

const columns = `i.id, i.tab_id as tabId, i.klip_id as klipId, k.name, i.region, i.position, i.col_span as colSpan,
  i.min_height as minHeight, i.height`;
const from = 'from klip_instances i join klips k on k.id = i.klip_id';
const order = 'i.created_at, i.place';

export function klipInstanceById(db: Database, id: string): KlipInstance | undefined {
  return db.get<KlipInstance>(`select ${columns} ${from} where i.id = ?`, id);
}

/** A dashboard's instances in insertion order. */
export function klipInstancesOf(db: Database, tabId: string): KlipInstance[] {
  return db.all<KlipInstance>(`select ${columns} ${from} where i.tab_id = ? order by ${order}`, tabId);
}

export function pageOfKlipInstances(db: Database, tabId: string, page: Page): Listed<KlipInstance> {
  return listRows<KlipInstance>(db, { columns, from: `${from} where i.tab_id = ?`, order }, [tabId], page);
}

interface NewInstance extends Placed {
  readonly tabId: string;
  readonly klipId: string;
  readonly createdAt: number;
}

/** Appends a Klip to a dashboard. */
export function insertKlipInstance(db: Database, given: NewInstance): void {
  db.run(
    `insert into klip_instances (id, tab_id, klip_id, region, position, col_span, min_height, height, created_at, place)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?,
       (select coalesce(max(place), 0) + 1 from klip_instances where tab_id = ?))`,
    given.id,
    given.tabId,
    given.klipId,
    given.region,
    given.position,
    given.colSpan,
    given.minHeight,
    given.height,
    given.createdAt,
    given.tabId,
  );
}

/** Sets region, position and sizes. */
export function placeKlipInstance(db: Database, { id, region, position, colSpan, minHeight, height }: Placed): void {
  const sql = `update klip_instances set region = ?, position = ?, col_span = ?, min_height = ?, height = ?
    where id = ?`;
  db.run(sql, region, position, colSpan, minHeight, height, id);
}

export function deleteKlipInstance(db: Database, id: string): void {
  db.run('delete from klip_instances where id = ?', id);
}
