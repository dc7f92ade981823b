import { dailyAllowance, secondAllowance } from '../limits/allowance.ts';
import { type Account, accountById } from './accounts.ts';
import type { Database } from './database.ts';

/**
 * Names of an account's limits. The first two limit requests per day and per second; the others limit the number of
 * assets and users.
 */
export const limitNames = [
  'api.requests.perDay',
  'api.requests.perSecond',
  'dashboard.combined.total',
  'company.seats',
  'published.private.links',
] as const;
export type LimitName = (typeof limitNames)[number];

const columns: Readonly<Record<LimitName, string>> = {
  'api.requests.perDay': 'requests_per_day',
  'api.requests.perSecond': 'requests_per_second',
  'dashboard.combined.total': 'dashboards',
  'company.seats': 'seats',
  'published.private.links': 'private_links',
};

/** Sets a client's limit. The value -1 means that there is no limit. */
export function setLimit(db: Database, accountId: string, name: LimitName, value: number): void {
  db.run(`update accounts set ${columns[name]} = ? where id = ?`, value, accountId);
}

/**
 * Returns an account's effective limits. The value -1 means that there is no limit. If an account doesn't set its own
 * request rates, the rates of its plan apply.
 */
export function limitsOf(db: Database, accountId: string): Readonly<Record<LimitName, number>> {
  const account = accountById(db, accountId)!;
  const { dashboards, seats, privateLinks } = limitsOfWhatThereIs(db, account);
  return {
    'api.requests.perDay': dailyAllowance(account),
    'api.requests.perSecond': secondAllowance(account),
    'dashboard.combined.total': dashboards,
    'company.seats': seats,
    'published.private.links': privateLinks,
  };
}

interface Limits {
  readonly dashboards: number;
  readonly seats: number;
  readonly privateLinks: number;
}

function limitsOfWhatThereIs(db: Database, { id }: Pick<Account, 'id'>): Limits {
  const sql = 'select dashboards, seats, private_links as privateLinks from accounts where id = ?';
  return db.get<Limits>(sql, id)!;
}

/** Returns how many users an account may have; -1 if there is no limit. */
export function seatsOf(db: Database, accountId: string): number {
  return limitsOfWhatThereIs(db, { id: accountId }).seats;
}

/**
 * Returns how many more dashboards an account may create. The result is never negative; it's Infinity if there is no
 * limit.
 */
export function dashboardsLeft(db: Database, accountId: string): number {
  const max = limitsOfWhatThereIs(db, { id: accountId }).dashboards;
  if (max < 0) return Number.POSITIVE_INFINITY;
  const { n } = db.get<{ n: number }>('select count(*) as n from tabs where account_id = ?', accountId)!;
  return Math.max(0, max - n);
}

/**
 * Returns how many more published links the account may create that aren't public. The result is never negative; it's
 * Infinity if there is no limit.
 */
export function privateLinksLeft(db: Database, accountId: string): number {
  const max = limitsOfWhatThereIs(db, { id: accountId }).privateLinks;
  if (max < 0) return Number.POSITIVE_INFINITY;
  const sql = `select count(*) as n from tabs t join published_links l on l.tab_id = t.id
    where t.account_id = ? and l.is_public = 0`;
  return Math.max(0, max - db.get<{ n: number }>(sql, accountId)!.n);
}
