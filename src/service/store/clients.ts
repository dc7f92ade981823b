import type { ClientStatus } from '../client-status.ts';
import type { Listed, Page } from '../http/page.ts';
import type { Account } from './accounts.ts';
import type { Database } from './database.ts';
import { listRows } from './listing.ts';

/** A client account as its company sees it. */
export interface Client {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly externalId: string | null;
  /** As stored; a trial may be over, see client-status.ts. */
  readonly status: ClientStatus;
  /** -1 = no limit. */
  readonly seats: number;
  readonly trialExtended: 0 | 1;
  readonly directBilling: 0 | 1;
  readonly createdAt: number;
  /** When one of its users last signed in. */
  readonly lastSignIn: number | null;
}

const columns = `a.id, a.name, a.description, a.external_id as externalId, a.status, a.seats,
  a.trial_extended as trialExtended, a.direct_billing as directBilling, a.created_at as createdAt,
  (select max(u.date_last_login) from users u where u.account_id = a.id) as lastSignIn`;

export function clientById(db: Database, company: Account, id: string): Client | undefined {
  return db.get<Client>(`select ${columns} from accounts a where a.id = ? and a.parent_id = ?`, id, company.id);
}

export function clientsOf(db: Database, company: Account, page: Page): Listed<Client> {
  const from = 'from accounts a where a.parent_id = ?';
  return listRows(db, { columns, from, order: 'a.created_at, a.id' }, [company.id], page);
}

interface ClientFields {
  readonly name?: string;
  readonly description?: string;
  readonly external_id?: string;
  readonly seats?: number;
  readonly status?: ClientStatus;
}

/** Changes what is given. */
export function updateClient(db: Database, id: string, given: ClientFields): void {
  const { name = null, description = null, external_id = null, seats = null, status = null } = given;
  const sql = `update accounts set name = coalesce(?, name), description = coalesce(?, description),
    external_id = coalesce(?, external_id), seats = coalesce(?, seats), status = coalesce(?, status) where id = ?`;
  db.run(sql, name, description, external_id, seats, status, id);
}

/** Goes with everything that the account has. */
export function deleteClient(db: Database, id: string): void {
  db.run('delete from accounts where id = ?', id);
}

/** The documents that an account's instances show. */
export function blobsOf(db: Database, accountId: string): string[] {
  const sql = `select i.blob from datasources d join datasource_instances i on i.datasource_id = d.id
    where d.account_id = ? and i.blob is not null`;
  return db.all<{ blob: string }>(sql, accountId).map(({ blob }) => blob);
}

export function extendTrial(db: Database, id: string): void {
  db.run('update accounts set trial_extended = 1 where id = ?', id);
}

export function billDirectly(db: Database, id: string): void {
  db.run('update accounts set direct_billing = 1 where id = ?', id);
}

/** How many users an account may have; -1 = no limit. */
export function seatsOf(db: Database, accountId: string): number {
  return db.get<{ seats: number }>('select seats from accounts where id = ?', accountId)!.seats;
}
