import type { Config, Destination } from '../../config/config.ts';
import { senderLease } from '../../delivery/account-leases.ts';
import { dayOf, limitOf, untilMidnight } from '../../delivery/quota.ts';
import type { Clock } from '../../lib/clock.ts';
import { processText } from '../../state/processes/processes.ts';
import type { Store } from '../../state/store.ts';

/** The number of requests that an account has left for the day. */
export interface AccountStatus {
  readonly destinations: readonly string[];
  readonly day: string;
  readonly used: number;
  /**
   * The part of `used` that wasn't sent from this state: requests that the service counted for other users of the same
   * account.
   */
  readonly others: number;
  readonly limit: number;
  readonly turns_at: number;
  /** The account's allowance for this day as reported by the service. Absent if the service hasn't reported it. */
  readonly allowance?: number;
  /** The reason why the service doesn't report the account's usage. Absent if it does, or if it wasn't asked. */
  readonly usage_refused?: string;
  /** Set if the service has reported that the allowance is used up. */
  readonly spent_until?: number;
  /** The process that is sending to the account, if several machines share the state. */
  readonly sender?: string;
}

/** Reports the remaining requests of each account in a config. Without a store, no requests have been used yet. */
export async function reportAccounts(
  { destinations }: Pick<Config, 'destinations'>,
  store: Store | undefined,
  clock: Clock,
): Promise<AccountStatus[]> {
  const now = clock.now();
  const day = dayOf(now);
  const byAccount = Map.groupBy(destinations.values(), ({ account }: Destination) => account);
  return Promise.all(
    [...byAccount].map(async ([account, sharing]) => {
      const { used = 0, others = 0, allowance, spentUntil } = (await store?.quota.use(account, day)) ?? {};
      const sender = store?.isOnServer ? await store.leases.holder(senderLease(account)) : undefined;
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
        ...(sender === undefined ? {} : { sender: processText(sender.owner) }),
      };
    }),
  );
}
