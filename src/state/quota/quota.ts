import { inTransaction, Repository } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';

export interface DayUse {
  /** All known usage: our own requests and those of others. */
  readonly used: number;
  /** The part of the usage that the service counted beyond our own requests. */
  readonly others: number;
  /** The account's allowance for this day, as the service reported it; undefined if it hasn't. */
  readonly allowance: number | undefined;
  /** Until when the allowance is used up, as the service reported it; undefined if it hasn't. */
  readonly spentUntil: number | undefined;
}

/**
 * Counts requests per account and day. The caller decides what a day is. Near midnight, a request is charged to two
 * days. Requests are never refunded.
 */
export class Quota extends Repository {
  /**
   * Takes one request from each of the days, or from none of them. Returns undefined on success, otherwise the first
   * day that has no requests left. The limit may depend on the day's known usage.
   */
  take(
    account: string,
    days: readonly string[],
    limit: number | ((use: DayUse, day: string) => number),
  ): Promise<string | undefined> {
    return inTransaction(this.context, async (inside) => {
      const quota = new Quota(inside);
      for (const day of days) {
        const use = await quota.use(account, day);
        const most = typeof limit === 'number' ? limit : limit(use, day);
        if (use.used >= most || use.spentUntil !== undefined) return day;
      }
      for (const day of days) await quota.charge(account, day);
      return undefined;
    });
  }

  /** Counts one request on a day and ignores the limit, because the service may have counted it on that day. */
  async charge(account: string, day: string): Promise<void> {
    await count(this.context.db, { account, day });
  }

  /** Records that, according to the service, the account's daily allowance is used up until `until` (epoch ms). */
  async close(account: string, day: string, until: number): Promise<void> {
    const spent = { spent_at: Math.round(this.context.clock.now()), spent_until: Math.round(until) };
    await this.context.db
      .insertInto('quota')
      .values({ account, day, used: 0, ...spent })
      .onConflict((conflict) => conflict.columns(['account', 'day']).doUpdateSet(spent))
      .execute();
  }

  async use(account: string, day: string): Promise<DayUse> {
    const [row] = await ofDay(this.context.db, { account, day });
    const { used: own = 0, others = 0, allowance } = row ?? {};
    const spentUntil = row && this.#stillSpent(row);
    return { used: own + others, others, allowance: allowance ?? undefined, spentUntil };
  }

  /**
   * Records that the service reports `reported` requests on a day, including ours. The higher of the service's count
   * and ours wins, and usage by others never decreases. Returns the day's updated usage.
   */
  reconcile(account: string, day: string, told: { reported: number; allowance: number | undefined }): Promise<DayUse> {
    const { reported, allowance } = told;
    return inTransaction(this.context, async (inside) => {
      const quota = new Quota(inside);
      const { used, others } = await quota.use(account, day);
      const seen = {
        others: Math.max(others, reported - (used - others)),
        allowance,
      };
      await inside.db
        .insertInto('quota')
        .values({ account, day, used: 0, spent_at: null, spent_until: null, ...seen })
        .onConflict((conflict) => conflict.columns(['account', 'day']).doUpdateSet(seen))
        .execute();
      return quota.use(account, day);
    });
  }

  /** If the wall clock was set back to before the response, the wait ends, so that it doesn't get longer. */
  #stillSpent({ spent_at, spent_until }: { spent_at: number | null; spent_until: number | null }): number | undefined {
    const now = this.context.clock.now();
    if (spent_at === null || spent_until === null || now < spent_at || now >= spent_until) return undefined;
    return spent_until;
  }
}

interface Of {
  readonly account: string;
  readonly day: string;
}

const ofDay = prepared((db, value: BoundValue<Of>) =>
  db.selectFrom('quota').selectAll().where('account', '=', value('account')).where('day', '=', value('day')),
);

const count = prepared((db, value: BoundValue<Of>) =>
  db
    .insertInto('quota')
    .values({ account: value('account'), day: value('day'), used: 1, spent_at: null, spent_until: null })
    .onConflict((conflict) =>
      conflict.columns(['account', 'day']).doUpdateSet((row) => ({ used: row('quota.used', '+', 1) })),
    ),
);
