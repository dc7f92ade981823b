import type { Caller } from '../auth/authenticate.ts';
import type { Listed, Page } from '../http/page.ts';
import type { Account } from './accounts.ts';
import type { Database } from './database.ts';
import { listRows } from './listing.ts';
import { type Asset, type SharedAsset, visibleTo } from './shares.ts';
import { listVisible } from './visible.ts';

/** A Klip, which is a visual widget. Its schema isn't included, because it can be long. */
export interface Klip extends Asset {
  readonly updatedAt: number;
}

const columns = `k.id, k.account_id as accountId, k.name, k.description, k.created_by as createdBy,
  k.created_at as createdAt, k.updated_at as updatedAt`;

export function klipById(db: Database, id: string): Klip | undefined {
  return db.get<Klip>(`select ${columns} from klips k where k.id = ?`, id);
}

/** The Klip as a shareable asset. */
export function klipAsShared({ id, accountId, createdBy }: Klip): SharedAsset {
  return { kind: 'klip', id, accountId, createdBy };
}

/** Returns the Klips that the caller may see. If a data source is given, returns only Klips whose schema names it. */
export function visibleKlips(
  db: Database,
  { account, caller, datasourceId }: { account: Account; caller: Caller; datasourceId: string | undefined },
  page: Page,
): Listed<Klip> {
  if (datasourceId === undefined) return listVisible(db, { kind: 'klip', account, caller }, columns, page);
  const seen = visibleTo(caller, 'klip', 'k');
  const from = `from klip_datasources u cross join klips k on k.id = u.klip_id
    where u.datasource_id = ? and k.account_id = ? and ${seen.sql}`;
  return listRows<Klip>(
    db,
    { columns, from, order: 'k.created_at, k.id' },
    [datasourceId, account.id, ...seen.values],
    page,
  );
}

interface NewKlip extends Omit<Klip, 'updatedAt'> {
  /** ID of the Klip in another account that this Klip was copied from. */
  readonly importedFrom?: string;
  readonly schema: string;
}

export function insertKlip(db: Database, klip: NewKlip): void {
  const { id, accountId, name, description, schema, importedFrom = null, createdBy, createdAt } = klip;
  const own = { id, accountId, name, description, createdBy, createdAt, updatedAt: createdAt };
  db.insert('klips', { ...own, schema, importedFrom });
}

/** Changes the fields that are given. `now` becomes the Klip's modification time, in epoch milliseconds. */
export function updateKlip(
  db: Database,
  id: string,
  { name, description, now }: { name?: string; description?: string; now: number },
): void {
  db.update('klips', id, { name, description, updatedAt: now });
}

export function deleteKlip(db: Database, id: string): void {
  db.run('delete from klips where id = ?', id);
}

/** The JSON of a Klip's schema. */
export function schemaOf(db: Database, id: string): string {
  return db.get<{ schema: string }>('select schema from klips where id = ?', id)!.schema;
}

/** Stores a Klip's schema as the JSON that was received. */
export function setSchema(db: Database, id: string, { schema, now }: { schema: string; now: number }): void {
  db.update('klips', id, { schema, updatedAt: now });
}

/** Replaces the stored list of data sources that a Klip's schema names. */
export function setUsedDatasources(db: Database, klipId: string, datasourceIds: readonly string[]): void {
  db.run('delete from klip_datasources where klip_id = ?', klipId);
  const sql = 'insert into klip_datasources (klip_id, datasource_id) values (?, ?)';
  for (const id of datasourceIds) db.run(sql, klipId, id);
}

/** Returns the data sources that a Klip's schema names and that the caller may see. */
export function usedDatasources(db: Database, klipId: string, caller: Caller): { id: string; name: string }[] {
  const seen = visibleTo(caller, 'datasource', 'd');
  const sql = `select d.id, d.name from klip_datasources u join datasources d on d.id = u.datasource_id
    where u.klip_id = ? and ${seen.sql} order by d.created_at, d.id`;
  return db.all(sql, klipId, ...seen.values);
}

/** Returns the IDs of the data sources that a Klip's schema names and that still exist. */
export function usedDatasourceIds(db: Database, klipId: string): string[] {
  const sql = `select u.datasource_id as id from klip_datasources u join datasources d on d.id = u.datasource_id
    where u.klip_id = ? order by d.created_at, d.id`;
  return db.all<{ id: string }>(sql, klipId).map(({ id }) => id);
}

/** Returns the instances of a Klip's copies on the dashboards of the company's clients. */
export function clientInstancesOf(
  db: Database,
  { klipId, companyId }: { klipId: string; companyId: string },
  page: Page,
): Listed<{ id: string }> {
  const from = `from klips k join accounts a on a.id = k.account_id join klip_instances i on i.klip_id = k.id
    where k.imported_from = ? and a.parent_id = ?`;
  return listRows(db, { columns: 'i.id', from, order: 'i.created_at, i.id' }, [klipId, companyId], page);
}
