import { easternText } from '../../lib/time-text.ts';
import { budgetsOfDay } from '../day-budget.ts';
import type { AccountStatus } from '../report-accounts.ts';
import type { Found, Ground } from './look.ts';

/** Reckoning the rest of the day takes a while where there are thousands of jobs. */
const planEveryMs = 900_000;

/** Accounts whose requests of the day are used up, or will be before it is over. */
export class Shortages {
  #planned: { readonly at: number; readonly ends: ReadonlyMap<string, number> } | undefined;

  async find(ground: Ground): Promise<Found[]> {
    const ends = await this.#ends(ground);
    return ground.overview.accounts.flatMap((account) =>
      shortOf(account, { ground, endsAt: ends.get(account.destinations[0] ?? '') }),
    );
  }

  /** When each account's requests will end today, about, by the name of its first destination. */
  async #ends({ config, store, overview }: Ground): Promise<ReadonlyMap<string, number>> {
    const { now, accounts } = overview;
    const age = now - (this.#planned?.at ?? Number.NEGATIVE_INFINITY);
    if (this.#planned !== undefined && age >= 0 && age < planEveryMs) return this.#planned.ends;
    const ends = new Map<string, number>();
    for (const { destination, room, jobs } of await budgetsOfDay(config, store, { now })) {
      const account = accounts.find(({ destinations }) => destinations.includes(destination));
      const wanted = jobs.reduce((sum, { firings, cost }) => sum + firings * cost, 0);
      if (account === undefined || wanted <= room) continue;
      const part = Math.max(0, room) / wanted;
      ends.set(account.destinations[0] ?? '', now + Math.round(part * (account.turns_at - now)));
    }
    this.#planned = { at: now, ends };
    return ends;
  }
}

function shortOf(account: AccountStatus, { ground, endsAt }: { ground: Ground; endsAt: number | undefined }): Found[] {
  const { now } = ground.overview;
  const { used, limit: whole, day, turns_at, spent_until } = account;
  const limit = scheduledLimit(account, ground);
  const reserve = limit < whole ? `, ${whole - limit} of them are kept for people` : '';
  const said = `${used} of ${whole} requests are used on ${day}${reserve}`;
  const turns = `the day turns at ${easternText(turns_at, now)}`;
  const short = (level: 1 | 2, what: string): Found[] => [
    { subject: `account:${account.destinations[0] ?? ''}`, occasion: 'quota', cause: '', since: now, level, what },
  ];
  if (spent_until !== undefined || used >= limit) {
    const who = spent_until === undefined ? '' : '; the service says that nothing is left';
    return short(2, `${said}${who}; ${turns}, what is owed waits and is sent then`);
  }
  if (endsAt !== undefined && endsAt < turns_at) {
    return short(1, `${said}; at this pace they end at about ${easternText(endsAt, now)}, ${turns}`);
  }
  return limit - used < limit * ground.alerts.quotaLeft ? short(1, `${said}; ${turns}`) : [];
}

/** What scheduled work may bring the account to: the least that any of its destinations allows. */
function scheduledLimit({ destinations }: AccountStatus, { config }: Ground): number {
  const limits = destinations.flatMap((name) => {
    const destination = config.destinations.get(name);
    return destination === undefined ? [] : [destination.requestsPerDay - destination.reserveRequests];
  });
  return Math.min(...limits);
}
