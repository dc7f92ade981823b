import type { Caller } from '../auth/authenticate.ts';
import type { Listed, Page } from '../http/page.ts';
import type { Account } from './accounts.ts';
import type { Database } from './database.ts';
import type { Asset, SharedAsset } from './shares.ts';
import { listVisible } from './visible.ts';

/** The formats of a data source. They're part of the service's API, independent of other formats in the code base. */
export const formatIds = ['json', 'csv', 'xml'] as const;
export type FormatId = (typeof formatIds)[number];

export interface Datasource extends Asset {
  readonly connector: string;
  readonly format: FormatId;
  readonly refreshInterval: number;
  readonly isDynamic: 0 | 1;
  readonly noRefresh: 0 | 1;
  readonly disabled: 0 | 1;
  /**
   * The properties, with unresolved references to user properties. If a source isn't dynamic, they're stored in its
   * instance.
   */
  readonly properties: string;
  /** When any of its instances was last refreshed; null if none has data yet. */
  readonly dateLastRefresh: number | null;
}

/** The fields of a source in lists. */
export type ListedDatasource = Pick<
  Datasource,
  'id' | 'name' | 'description' | 'refreshInterval' | 'isDynamic' | 'dateLastRefresh'
>;

const listed = `d.id, d.name, d.description, d.refresh_interval as refreshInterval, d.is_dynamic as isDynamic,
  (select max(i.date_last_refresh) from datasource_instances i where i.datasource_id = d.id) as dateLastRefresh`;
const columns = `${listed}, d.account_id as accountId, d.connector, d.format, d.no_refresh as noRefresh, d.disabled,
  d.properties, d.created_by as createdBy, d.created_at as createdAt`;

/** Built once, because almost every call about data uses it. */
const byId = `select ${columns} from datasources d where d.id = ?`;

/** The source, cached until the next write. */
export function datasourceById(db: Database, id: string): Datasource | undefined {
  return db.remember('datasource', id, () => db.get<Datasource>(byId, id));
}

/** The sources of an account whose instances depend on its users' properties. */
export function dynamicSources(db: Database, accountId: string): Datasource[] {
  const where = 'where d.account_id = ? and d.is_dynamic = 1 order by d.created_at, d.id';
  return db.all<Datasource>(`select ${columns} from datasources d ${where}`, accountId);
}

/** A page of the sources that the caller may see: their own, those shared with them, or all. */
export function visibleDatasources(
  db: Database,
  account: Account,
  caller: Caller,
  page: Page,
): Listed<ListedDatasource> {
  return listVisible(db, { kind: 'datasource', account, caller }, listed, page);
}

/** The source as a shareable asset. */
export function asShared({ id, accountId, createdBy }: Datasource): SharedAsset {
  return { kind: 'datasource', id, accountId, createdBy };
}

export function insertDatasource(db: Database, source: Omit<Datasource, 'dateLastRefresh' | 'disabled'>): void {
  const { id, accountId, name, description, connector, format, createdBy, createdAt } = source;
  const { refreshInterval, isDynamic, noRefresh, properties } = source;
  const own = { id, accountId, name, description, connector, format, createdBy, createdAt };
  db.insert('datasources', { ...own, refreshInterval, isDynamic, noRefresh, properties });
}

/** Changes only the given fields. */
export function updateDatasource(
  db: Database,
  id: string,
  { name, description, refresh_interval }: { name?: string; description?: string; refresh_interval?: number },
): void {
  db.update('datasources', id, { name, description, refresh_interval });
}

/** Stores the properties together with whether the source is dynamic, which follows from them. */
export function setSourceProperties(
  db: Database,
  id: string,
  { properties, isDynamic }: { properties: string; isDynamic: 0 | 1 },
): void {
  db.update('datasources', id, { properties, isDynamic });
}

export function setDisabled(db: Database, id: string, disabled: boolean): void {
  db.run('update datasources set disabled = ? where id = ?', disabled ? 1 : 0, id);
}

/** Deletes the source with its instances and shares. The caller must remove their documents. */
export function deleteDatasource(db: Database, id: string): void {
  db.run('delete from datasources where id = ?', id);
}
