import type { Caller } from '../auth/authenticate.ts';
import type { Listed, Page } from '../http/page.ts';
import type { ReceivedDocument } from '../uploads/receive.ts';
import type { Account } from './accounts.ts';
import type { Database } from './database.ts';
import { listRows } from './listing.ts';
import { visibleTo } from './shares.ts';
import { listVisibleInstances } from './visible.ts';

/** An instance of a data source. Each instance has its own properties and data. */
export interface Instance {
  readonly id: string;
  readonly datasourceId: string;
  readonly datasourceName: string;
  readonly blob: string | null;
  readonly sha256: string | null;
  readonly dataSize: number;
  /** When the instance last got data; when it was created if it never did. */
  readonly dateLastRefresh: number;
  /** When the next scheduled refresh is due; null if there is none. */
  readonly dateNextRefresh: number | null;
  readonly refreshFailCount: number;
  readonly lastError: string | null;
}

const own = `i.id, i.datasource_id as datasourceId, i.blob, i.sha256, i.data_size as dataSize,
  coalesce(i.date_last_refresh, i.created_at) as dateLastRefresh, i.refresh_due_at as dateNextRefresh,
  i.refresh_fail_count as refreshFailCount, i.last_error as lastError`;
const columns = `${own}, d.name as datasourceName`;
const from = 'from datasource_instances i join datasources d on d.id = i.datasource_id';

/** This statement runs for every upload, so it avoids a join: SQLite would compile a join again each time. */
const byId = `select ${own}, (select d.name from datasources d where d.id = i.datasource_id) as datasourceName
  from datasource_instances i where i.id = ?`;

export function instanceById(db: Database, id: string): Instance | undefined {
  return db.get<Instance>(byId, id);
}

export function instancesOf(db: Database, datasourceId: string): Instance[] {
  return db.all<Instance>(`select ${columns} ${from} where d.id = ? order by i.created_at, i.id`, datasourceId);
}

/**
 * Returns instances of the data sources that the caller may see. If `datasourceId` is set, returns only that source's
 * instances.
 */
export function visibleInstances(
  db: Database,
  { account, caller, datasourceId }: { account: Account; caller: Caller; datasourceId: string | undefined },
  page: Page,
): Listed<Instance> {
  if (datasourceId === undefined) return listVisibleInstances(db, { account, caller }, columns, page);
  const seen = visibleTo(caller, 'datasource', 'd');
  const where = `${from} where d.account_id = ? and d.id = ? and ${seen.sql}`;
  const given = [account.id, datasourceId, ...seen.values];
  return listRows(db, { columns, from: where, order: 'i.created_at, i.id' }, given, page);
}

export function insertInstance(
  db: Database,
  {
    id,
    datasourceId,
    dynamicKey,
    createdAt,
  }: Pick<Instance, 'id' | 'datasourceId'> & { dynamicKey: string; createdAt: number },
): void {
  db.insert('datasource_instances', { id, datasourceId, dynamicKey, createdAt });
}

interface Keyed {
  readonly id: string;
  readonly dynamicKey: string;
  readonly blob: string | null;
  /** When the instance last received data. If it never did, when it was created. */
  readonly lastChange: number;
}

/** Returns a data source's instances. Each has a key, which identifies a set of user property values. */
export function keyedInstancesOf(db: Database, datasourceId: string): Keyed[] {
  const sql = `select id, dynamic_key as dynamicKey, blob, coalesce(date_last_refresh, created_at) as lastChange
    from datasource_instances where datasource_id = ? order by created_at, id`;
  return db.all<Keyed>(sql, datasourceId);
}

export function deleteInstance(db: Database, id: string): void {
  db.run('delete from datasource_instances where id = ?', id);
}

/** The ETag of the document that an instance shows; undefined if there's none. */
export function etagOf({ sha256 }: Instance): string | undefined {
  return sha256 === null ? undefined : `"${sha256}"`;
}

/** Sets the document that an instance shows. Returns whether the instance still exists. */
export function showData(db: Database, id: string, { blob, bytes, sha256 }: ReceivedDocument, now: number): boolean {
  const sql = `update datasource_instances set blob = ?, data_size = ?, sha256 = ?, date_last_refresh = ?,
    refresh_fail_count = 0, last_error = null where id = ?`;
  return db.run(sql, blob, bytes, sha256, now, id) === 1;
}

/** Records a failed refresh. The instance keeps its current document. */
export function noteFailure(db: Database, id: string, message: string): void {
  const sql = `update datasource_instances set refresh_fail_count = refresh_fail_count + 1, last_error = ? where id = ?`;
  db.run(sql, message, id);
}

/** Returns the names of all documents that instances show. The sweep must keep these documents. */
export function knownBlobs(db: Database): Set<string> {
  const rows = db.all<{ blob: string }>('select blob from datasource_instances where blob is not null');
  return new Set(rows.map(({ blob }) => blob));
}

/** Returns an instance's properties by name. The values keep their JSON types. */
export function propertiesOf(db: Database, instanceId: string): Record<string, unknown> {
  const sql = 'select name, value from instance_properties where instance_id = ? order by name';
  const rows = db.all<{ name: string; value: string }>(sql, instanceId);
  return Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value) as unknown]));
}

export function setProperties(db: Database, instanceId: string, properties: Readonly<Record<string, unknown>>): void {
  const sql = `insert into instance_properties (instance_id, name, value) values (?, ?, ?)
    on conflict do update set value = excluded.value`;
  for (const [name, value] of Object.entries(properties)) {
    if (value !== null) db.run(sql, instanceId, name, JSON.stringify(value));
  }
}

/** Deletes an instance's property. Returns whether the property existed. */
export function deleteProperty(db: Database, instanceId: string, name: string): boolean {
  return db.run('delete from instance_properties where instance_id = ? and name = ?', instanceId, name) === 1;
}
