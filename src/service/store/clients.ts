import { type ClientStatus, statusSql } from '../client-status.ts';
import type { Listed, Page } from '../http/page.ts';
import type { Account } from './accounts.ts';
import type { Database } from './database.ts';
import { filtered, listRows } from './listing.ts';

export interface ClientAccount {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly externalId: string | null;
  /** The client's stored status. For an expired trial, client-status.ts derives a different status. */
  readonly status: ClientStatus;
  /** -1 = no limit. */
  readonly seats: number;
  readonly trialExtended: 0 | 1;
  readonly directBilling: 0 | 1;
  readonly createdAt: number;
  /** When one of the client's users last signed in, including users that have been deleted since. */
  readonly lastSignIn: number | null;
}

const columns = `a.id, a.name, a.description, a.external_id as externalId, a.status, a.seats,
  a.trial_extended as trialExtended, a.direct_billing as directBilling, a.created_at as createdAt,
  a.last_sign_in as lastSignIn`;

/** Returns the company's client with this ID, or undefined if the client belongs to another company. */
export function clientById(db: Database, company: Account, id: string): ClientAccount | undefined {
  return db.get<ClientAccount>(`select ${columns} from accounts a where a.id = ? and a.parent_id = ?`, id, company.id);
}

interface ClientFilter extends Page {
  readonly external_id?: string;
  /** The status at the time `now` (epoch milliseconds). */
  readonly status?: ClientStatus;
  readonly now: number;
}

/** Returns one page of a company's clients that match the filter, oldest first. */
export function clientsOf(db: Database, company: Account, filter: ClientFilter): Listed<ClientAccount> {
  const { from, values } = filtered('from accounts a where a.parent_id = ?', [company.id], {
    'a.external_id = ?': [filter.external_id],
    [`${statusSql} = ?`]: [filter.now, filter.status],
  });
  return listRows(db, { columns, from, order: 'a.created_at, a.id' }, values, filter);
}

/** Changes to a client's settings. Fields that are absent stay unchanged. */
export interface ClientChange {
  readonly name?: string;
  readonly description?: string;
  readonly external_id?: string;
  readonly seats?: number;
  readonly status?: ClientStatus;
}

/** Changes only the given fields. */
export function updateClient(db: Database, id: string, given: ClientChange): void {
  const { name, description, external_id, seats, status } = given;
  db.update('accounts', id, { name, description, external_id, seats, status });
}

/** Deletes a client account with all its data. */
export function deleteClient(db: Database, id: string): void {
  db.run('delete from accounts where id = ?', id);
}

/** Returns the names of the documents that an account's instances currently show. */
export function blobsOf(db: Database, accountId: string): string[] {
  const sql = `select i.blob from datasources d join datasource_instances i on i.datasource_id = d.id
    where d.account_id = ? and i.blob is not null`;
  return db.all<{ blob: string }>(sql, accountId).map(({ blob }) => blob);
}

/** Records that the client's trial was extended. A trial can be extended only once. */
export function extendTrial(db: Database, id: string): void {
  db.run('update accounts set trial_extended = 1 where id = ?', id);
}

/** Records that the client is billed directly. */
export function billDirectly(db: Database, id: string): void {
  db.run('update accounts set direct_billing = 1 where id = ?', id);
}

/** Features that can be disabled for individual clients. All are enabled by default. */
export const featureNames = [
  'theming',
  'domain_cloaking',
  'published_dashboards',
  'downloadable_reports',
  'scheduled_emails',
  'sso',
  'embeds',
  'public_dashboards',
] as const;
export type FeatureName = (typeof featureNames)[number];

/** The disabled features. */
export function featuresOff(db: Database, accountId: string): Set<string> {
  const sql = 'select name from client_features where account_id = ? and enabled = 0';
  return new Set(db.all<{ name: string }>(sql, accountId).map(({ name }) => name));
}

export function switchFeature(db: Database, accountId: string, name: FeatureName, enabled: boolean): void {
  const row = { accountId, name, enabled: enabled ? 1 : 0 };
  db.insert('client_features', row, 'on conflict do update set enabled = excluded.enabled');
}

/** Returns a client's properties, ordered by name. */
export function clientProperties(db: Database, accountId: string): Record<string, string> {
  const sql = 'select name, value from client_properties where account_id = ? order by name';
  const rows = db.all<{ name: string; value: string }>(sql, accountId);
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

export function setClientProperty(db: Database, accountId: string, name: string, value: string): void {
  db.insert('client_properties', { accountId, name, value }, 'on conflict do update set value = excluded.value');
}

/** Deletes a client's property. Returns whether the property existed. */
export function dropClientProperty(db: Database, accountId: string, name: string): boolean {
  return db.run('delete from client_properties where account_id = ? and name = ?', accountId, name) === 1;
}
