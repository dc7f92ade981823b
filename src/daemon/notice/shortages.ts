import type { Clock } from '../../lib/clock.ts';
import { easternText } from '../../lib/time-text.ts';
import { type AccountStatus, reportAccounts } from '../report-accounts.ts';
import { reportPlan } from '../report-plan.ts';
import type { Found, Ground } from './look.ts';

/** Reckoning the rest of the day takes a while where there are thousands of jobs. */
const planEveryMs = 900_000;

/** Accounts whose requests of the day are used up, or will be before it is over. */
export class Shortages {
  #planned: { readonly at: number; readonly ends: ReadonlyMap<string, number> } | undefined;

  async find(ground: Ground, clock: Clock): Promise<Found[]> {
    const { config, store } = ground;
    const accounts = await reportAccounts(config, store, clock);
    const ends = await this.#ends(ground);
    return accounts.flatMap((account) => shortOf(account, { ground, endsAt: ends.get(account.destinations[0] ?? '') }));
  }

  /** When each account's requests are expected to end today, by the name of its first destination. */
  async #ends({ config, store, overview: { now } }: Ground): Promise<ReadonlyMap<string, number>> {
    const age = now - (this.#planned?.at ?? Number.NEGATIVE_INFINITY);
    if (this.#planned !== undefined && age >= 0 && age < planEveryMs) return this.#planned.ends;
    const { accounts } = await reportPlan({ config, store, now });
    const short = accounts.flatMap(({ destinations, expected }): [string, number][] =>
      expected.fits || expected.ends_at === undefined ? [] : [[destinations[0] ?? '', expected.ends_at]],
    );
    this.#planned = { at: now, ends: new Map(short) };
    return this.#planned.ends;
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
    return short(1, `${said}; at this pace they end at ${easternText(endsAt, now)}, ${turns}`);
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
