import type { Account, SubscriptionPlan } from '../store/accounts.ts';

const requestsPerDay: Readonly<Record<SubscriptionPlan, number>> = {
  starter: 1_000,
  team: 5_000,
  grow: 10_000,
  enterprise: 50_000,
};
const requestsPerSecond = 5;

/** The account's own daily allowance if it has one, otherwise its plan's. Days end at midnight in New York. */
export function dailyAllowance(account: Account): number {
  return account.requestsPerDay ?? requestsPerDay[account.plan];
}

/** The number of requests that an account may send within any second. */
export function secondAllowance(account: Account): number {
  return account.requestsPerSecond ?? requestsPerSecond;
}
