import type { Account, SubscriptionPlan } from '../store/accounts.ts';

const requestsPerDay: Readonly<Record<SubscriptionPlan, number>> = {
  starter: 1_000,
  team: 5_000,
  grow: 10_000,
  enterprise: 50_000,
};
const requestsPerSecond = 5;

/** An account's daily allowance (days end at midnight in New York): its own, or its plan's. */
export function dailyAllowance(account: Account): number {
  return account.requestsPerDay ?? requestsPerDay[account.plan];
}

/** Requests that an account may make within any second. */
export function secondAllowance(account: Account): number {
  return account.requestsPerSecond ?? requestsPerSecond;
}
