import type { Config, Destination } from '../../config/config.ts';
import { dayOf, limitOf, untilMidnight } from '../../delivery/quota.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../state/store.ts';

/** What is left of an account's day. */
export interface AccountStatus {
  readonly destinations: readonly string[];
  readonly day: string;
  readonly used: number;
  /** Of these, the ones that the service has counted beyond those made with this state: by others on the account. */
  readonly others: number;
  readonly limit: number;
  readonly turns_at: number;
  /** What the service says that the account may use on this day; absent until it has said so. */
  readonly allowance?: number;
  /** Why the service does not tell what the account has used; absent while it does, or was not asked. */
  readonly usage_refused?: string;
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
