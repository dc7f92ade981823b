import type { Config, Destination } from '../config/config.ts';
import { dayOf, untilMidnight } from '../delivery/quota.ts';
import type { Clock } from '../lib/clock.ts';
import type { Store } from '../state/store.ts';

/** What is left of an account's day. */
export interface AccountStatus {
  readonly destinations: readonly string[];
  readonly day: string;
  readonly used: number;
  readonly limit: number;
  readonly turns_at: number;
  /** Set when the service has said that the day is over. */
  readonly spent_until?: number;
}

/** What is left of the day of each account that a config has; without a store, nothing is used yet. */
export async function reportAccounts(
  { destinations }: Config,
  store: Store | undefined,
  clock: Clock,
): Promise<AccountStatus[]> {
  const now = clock.now();
  const day = dayOf(now);
  const byAccount = Map.groupBy(destinations.values(), ({ account }: Destination) => account);
  return Promise.all(
    [...byAccount].map(async ([account, sharing]) => {
      const { used = 0, spentUntil } = (await store?.quota.use(account, day)) ?? {};
      return {
        destinations: sharing.map(({ name }) => name),
        day,
        used,
        limit: Math.min(...sharing.map(({ requestsPerDay }) => requestsPerDay)),
        turns_at: now + untilMidnight(now),
        ...(spentUntil === undefined ? {} : { spent_until: spentUntil }),
      };
    }),
  );
}
