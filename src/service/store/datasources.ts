import type { Caller } from '../auth/authenticate.ts';
import type { Listed, Page } from '../http/page.ts';
import type { Account } from './accounts.ts';
import type { Database } from './database.ts';
import type { Asset, SharedAsset } from './shares.ts';
import { listVisible } from './visible.ts';

/** The data formats that the service's API allows. They're independent of all other formats in the code base. */
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
   * The source's properties as JSON, with unresolved references to user properties. They're up to date only for a
   * dynamic source; for any other source, use the properties of its instance.
   */
  readonly properties: string;
  /** When an instance of the source last got data; when the source was created if none ever did. */
  readonly dateLastRefresh: number;
}

/** A data source's fields as they appear in lists. */
export type ListedDatasource = Pick<
  Datasource,
  'id' | 'name' | 'description' | 'refreshInterval' | 'isDynamic' | 'dateLastRefresh'
>;

const listed = `d.id, d.name, d.description, d.refresh_interval as refreshInterval, d.is_dynamic as isDynamic,
  coalesce((select max(i.date_last_refresh) from datasource_instances i where i.datasource_id = d.id), d.created_at)
    as dateLastRefresh`;
const columns = `${listed}, d.account_id as accountId, d.connector, d.format, d.no_refresh as noRefresh, d.disabled,
  d.properties, d.created_by as createdBy, d.created_at as createdAt`;

/** The statement is built only once, because almost every call about data uses it. */
const byId = `select ${columns} from datasources d where d.id = ?`;

/** Returns the data source with this ID. The result is cached until the next write. */
export function datasourceById(db: Database, id: string): Datasource | undefined {
  return db.remember('datasource', id, () => db.get<Datasource>(byId, id));
}

/** Returns an account's dynamic data sources, whose instances depend on user properties. */
export function dynamicSources(db: Database, accountId: string): Datasource[] {
  const where = 'where d.account_id = ? and d.is_dynamic = 1 order by d.created_at, d.id';
  return db.all<Datasource>(`select ${columns} from datasources d ${where}`, accountId);
}

/**
 * Returns one page of the data sources that the caller may see: their own sources and the sources shared with them, or
 * all sources.
 */
export function visibleDatasources(
  db: Database,
  account: Account,
  caller: Caller,
  page: Page,
): Listed<ListedDatasource> {
  return listVisible(db, { kind: 'datasource', account, caller }, listed, page);
}

/** Converts a data source to a shareable asset. */
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

/** Stores the source's properties, and whether the source is dynamic, which follows from the properties. */
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

/** Deletes a data source with its instances and shares. The caller must delete the instances' documents. */
export function deleteDatasource(db: Database, id: string): void {
  db.run('delete from datasources where id = ?', id);
}
