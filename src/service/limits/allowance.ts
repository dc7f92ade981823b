import type { Account } from '../store/accounts.ts';
import type { Database } from '../store/database.ts';
import type { EasternDay } from './eastern-day.ts';

export const plans = ['starter', 'team', 'grow', 'enterprise'] as const;
export type Plan = (typeof plans)[number];

const requestsPerDay: Readonly<Record<Plan, number>> = {
  starter: 1_000,
  team: 5_000,
  grow: 10_000,
  enterprise: 50_000,
};
const requestsPerSecond = 5;

export function dailyAllowance(account: Account): number {
  return account.requestsPerDay ?? requestsPerDay[account.plan];
}

export function secondAllowance(account: Account): number {
  return account.requestsPerSecond ?? requestsPerSecond;
}

/** A company's calls of one day and what it was allowed, as the api-usage report shows them. */
interface DayOfCalls {
  readonly day: string;
  readonly used: number;
  readonly allowance: number;
}

export function callsOfDay(db: Database, account: Account, { date }: EasternDay): number {
  const sql = 'select used from api_usage where account_id = ? and day = ?';
  return db.get<{ used: number }>(sql, account.id, date)?.used ?? 0;
}

/** Counts one call against the day. */
export function countCall(db: Database, account: Account, { date }: EasternDay): void {
  db.run(
    `insert into api_usage (account_id, day, used, allowance) values (?, ?, 1, ?)
     on conflict do update set used = used + 1, allowance = excluded.allowance`,
    account.id,
    date,
    dailyAllowance(account),
  );
}

/** The days on which there was at least one call, oldest first; `from` and `to` are days, both included. */
export function daysOfCalls(db: Database, accountId: string, from: string, to: string): DayOfCalls[] {
  const sql = 'select day, used, allowance from api_usage where account_id = ? and day between ? and ? order by day';
  return db.all<DayOfCalls>(sql, accountId, from, to);
}
