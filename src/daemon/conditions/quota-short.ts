import { limitOf } from '../../delivery/quota.ts';
import { countText } from '../../lib/count-text.ts';
import { easternText } from '../../lib/time-text.ts';
import type { AccountStatus } from '../report/report-accounts.ts';
import { budgetsOfDay } from '../throttle/day-budget.ts';
import { firingsLeft, throttleDay } from '../throttle/throttle-day.ts';
import type { Condition, ConditionLevel, Snapshot } from './condition.ts';
import { thresholdsOf } from './limits.ts';

/** How long to cache the plan for the rest of the day. Planning is slow with thousands of jobs. */
const planEveryMs = 900_000;

/** An account whose daily allowance is too small for today's schedules. */
interface Shortage {
  /** Number of jobs that are throttled because the allowance is too small. */
  readonly throttled: number;
  /** The approximate time when the account will run out of requests despite throttling; undefined if it won't. */
  readonly endsAt: number | undefined;
}

/**
 * Finds accounts whose daily allowance is used up, will be used up before the day ends, or is too small for all jobs.
 */
export class QuotaShortages {
  #planned: { readonly at: number; readonly shortages: ReadonlyMap<string, Shortage> } | undefined;

  async find(ground: Snapshot): Promise<Condition[]> {
    const shortages = await this.#plan(ground);
    return ground.overview.accounts.flatMap((account) =>
      shortOf(account, { ground, shortage: shortages.get(account.destinations[0] ?? '') }),
    );
  }

  /**
   * Returns the shortages, keyed by the name of each account's first destination. Accounts with enough requests are
   * left out.
   */
  async #plan({ config, store, overview }: Snapshot): Promise<ReadonlyMap<string, Shortage>> {
    const { now, accounts } = overview;
    const age = now - (this.#planned?.at ?? Number.NEGATIVE_INFINITY);
    if (this.#planned !== undefined && age >= 0 && age < planEveryMs) return this.#planned.shortages;
    const shortages = new Map<string, Shortage>();
    for (const { destination, room, jobs } of await budgetsOfDay(config, store, { now })) {
      const account = accounts.find(({ destinations }) => destinations.includes(destination));
      const { every, short } = throttleDay(jobs, room);
      if (account === undefined || (every.size === 0 && short === 0)) continue;
      const wanted = jobs.reduce(
        (sum, { job, firings, cost }) => sum + cost * firingsLeft(firings, every.get(job) ?? 1),
        0,
      );
      const part = Math.max(0, room) / wanted;
      const endsAt = short === 0 ? undefined : now + Math.round(part * (account.turns_at - now));
      shortages.set(account.destinations[0] ?? '', { throttled: every.size, endsAt });
    }
    this.#planned = { at: now, shortages };
    return shortages;
  }
}

function shortOf(
  account: AccountStatus,
  { ground, shortage }: { ground: Snapshot; shortage: Shortage | undefined },
): Condition[] {
  const { now } = ground.overview;
  const { used, limit: whole, day, turns_at, spent_until } = account;
  const limit = scheduledLimit(account, ground);
  const reserve = limit < whole ? ` (${countText(whole - limit)} are reserved for manual runs)` : '';
  const usageText = `${countText(used)} of ${countText(whole)} requests used on ${day}${reserve}`;
  const turns = `the allowance resets at ${easternText(turns_at, now)}`;
  const affected = jobsOf(account, ground);
  const short = (level: ConditionLevel, what: string, jobs: readonly string[] = []): Condition[] => [
    {
      subject: `account:${account.destinations[0] ?? ''}`,
      kind: 'quota',
      level,
      since: now,
      what,
      jobs,
      fix: '"sluice plan" shows how many requests each job needs and how to stay within the allowance',
    },
  ];
  if (spent_until !== undefined || used >= limit) {
    const who = spent_until === undefined ? '' : '; the service reports that no requests are left';
    return short('error', `${usageText}${who}; unsent payloads wait until ${turns}`, affected);
  }
  const { endsAt, throttled = 0 } = shortage ?? {};
  if (endsAt !== undefined && endsAt < turns_at) {
    return short(
      'warning',
      `${usageText}; at this rate, the requests will run out at about ${easternText(endsAt, now)}; ${turns}`,
      affected,
    );
  }
  if (throttled > 0) {
    const who = throttled === 1 ? 'a job runs' : `${countText(throttled)} jobs run`;
    return short(
      'warning',
      `${usageText}; too few are left for all scheduled runs, so ${who} less often until ${easternText(turns_at, now)}`,
      affected,
    );
  }
  const isLow = limit - used < limit * thresholdsOf(ground.config).quotaLeft;
  return isLow || affected.length > 0 ? short('warning', `${usageText}; ${turns}`, affected) : [];
}

/** Returns the jobs that are waiting for the account's allowance or are throttled to save requests. */
function jobsOf({ destinations }: AccountStatus, { jobs, overview }: Snapshot): string[] {
  const users = jobs.filter(({ destination }) => destinations.includes(destination.name));
  const isAffected = (name: string): boolean =>
    overview.throttle(name) !== undefined ||
    overview.waitingOf(name).some(({ state, code }) => state === 'owed' && code === 'QUOTA_SPENT');
  return users.map(({ name }) => name).filter(isAffected);
}

/** Returns the limit for scheduled work: the smallest limit among the account's destinations. */
function scheduledLimit({ destinations, allowance }: AccountStatus, { config }: Snapshot): number {
  const limits = destinations.flatMap((name) => {
    const destination = config.destinations.get(name);
    return destination === undefined ? [] : [limitOf(destination, 'schedule', { allowance })];
  });
  return Math.min(...limits);
}
