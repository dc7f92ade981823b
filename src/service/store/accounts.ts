import type { ClientStatus } from '../client-status.ts';
import type { Database } from './database.ts';

/** A company or a client account. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** ID of the company that the client belongs to; null for a company. */
  readonly parentId: string | null;
  /** The account's plan. A client without its own plan has its company's plan. */
  readonly plan: SubscriptionPlan;
  readonly requestsPerDay: number | null;
  readonly requestsPerSecond: number | null;
  readonly status: ClientStatus;
  readonly trialExtended: 0 | 1;
  readonly createdAt: number;
}

const columns = `a.id, a.name, a.parent_id as parentId, coalesce(a.plan, (select p.plan from accounts p where p.id = a.parent_id), 'starter') as plan,
  a.requests_per_day as requestsPerDay, a.requests_per_second as requestsPerSecond,
  a.status, a.trial_extended as trialExtended, a.created_at as createdAt`;
// Use only one table and no ORDER BY. SQLite would compile a more complex statement again for every query.
const from = 'from accounts a';

/** A company or a client. */
export function accountById(db: Database, id: string): Account | undefined {
  return db.get<Account>(`select ${columns} ${from} where a.id = ?`, id);
}

/** Returns the company's client with this ID, or undefined if the company has no such client. */
export function clientOf(db: Database, company: Account, id: string): Account | undefined {
  return db.get<Account>(`select ${columns} ${from} where a.id = ? and a.parent_id = ?`, id, company.id);
}

/** Whether the database contains an account, which was created from fixtures or as the first company. */
export function hasAccounts(db: Database): boolean {
  return db.get('select 1 from accounts limit 1') !== undefined;
}

/** All plans, the smallest first. */
export const plans = ['starter', 'team', 'grow', 'enterprise'] as const;

export type SubscriptionPlan = (typeof plans)[number];
