import type { Config, Destination } from '../../config/config.ts';
import { dayOf, limitOf, untilMidnight } from '../../delivery/quota.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../state/store.ts';

/** An account's remaining requests for the day. */
export interface AccountStatus {
  readonly destinations: readonly string[];
  readonly day: string;
  readonly used: number;
  /**
   * The part of `used` that the service counted in addition to this state's requests, made by others with the same
   * account.
   */
  readonly others: number;
  readonly limit: number;
  readonly turns_at: number;
  /** The account's allowance for this day as the service reported it; absent if it hasn't. */
  readonly allowance?: number;
  /** Why the service doesn't report the account's usage; absent if it does or wasn't asked. */
  readonly usage_refused?: string;
  /** Set if the service reported that the allowance is used up. */
  readonly spent_until?: number;
}

/** Each account's remaining requests in a config; without a store, nothing has been used yet. */
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
      const { used = 0, others = 0, allowance, spentUntil } = (await store?.quota.use(account, day)) ?? {};
      const refused = (await store?.usageChecks.find(account))?.refused;
      return {
        destinations: sharing.map(({ name }) => name),
        day,
        used,
        others,
        limit: Math.min(...sharing.map((one) => limitOf(one, 'person', { allowance }))),
        turns_at: now + untilMidnight(now),
        allowance,
        ...(refused == null ? {} : { usage_refused: refused }),
        spent_until: spentUntil,
      };
    }),
  );
}
