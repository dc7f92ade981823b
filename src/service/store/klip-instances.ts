import type { Listed, Page } from '../http/page.ts';
import type { Placed } from '../tab-layout.ts';
import type { Database } from './database.ts';
import { listRows } from './listing.ts';

/** A Klip that is placed on a dashboard, with its position. */
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

/** Returns a dashboard's Klip instances in the order in which they were added. */
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
  const { id, tabId, klipId, region, position, colSpan, minHeight, height, createdAt } = given;
  const sql = 'select coalesce(max(place), 0) + 1 as place from klip_instances where tab_id = ?';
  const { place } = db.get<{ place: number }>(sql, tabId)!;
  db.insert('klip_instances', { id, tabId, klipId, region, position, colSpan, minHeight, height, createdAt, place });
}

/** Sets the region, position and sizes of a Klip instance. */
export function placeKlipInstance(db: Database, { id, region, position, colSpan, minHeight, height }: Placed): void {
  db.update('klip_instances', id, { region, position, colSpan, minHeight, height });
}

export function deleteKlipInstance(db: Database, id: string): void {
  db.run('delete from klip_instances where id = ?', id);
}
