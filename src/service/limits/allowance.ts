import type { Account } from '../store/accounts.ts';

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
