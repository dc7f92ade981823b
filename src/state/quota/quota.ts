import { inTransaction, inTransactionOn, Repository } from '../engine/context.ts';
import { accountLock } from '../engine/lock-keys.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';

export interface DayUse {
  /**
   * Number of requests that are known to have been used on this day: Sluice's own requests and those of other programs.
   */
  readonly used: number;
  /** Number of requests that the service counted in addition to Sluice's own. */
  readonly others: number;
  /** The account's allowance for this day, as reported by the service. Undefined if the service hasn't reported it. */
  readonly allowance: number | undefined;
  /** Until when the allowance is used up, as reported by the service. Undefined if the service hasn't reported it. */
  readonly spentUntil: number | undefined;
}

/**
 * Counts requests per account and day. Callers decide when a day begins and ends. A request near midnight is charged to
 * both days. Requests are never refunded.
 */
export class Quota extends Repository {
  /**
   * Charges one request to each of the days, or to none of them. Returns undefined if the request was charged, and
   * otherwise the first day that has no requests left. The limit may depend on the day's known usage.
   */
  take(
    account: string,
    days: readonly string[],
    limit: number | ((use: DayUse, day: string) => number),
  ): Promise<string | undefined> {
    return inTransactionOn(this.context, [accountLock(account)], async (inside) => {
      const quota = new Quota(inside);
      for (const day of days) {
        const use = await quota.use(account, day);
        const max = typeof limit === 'number' ? limit : limit(use, day);
        if (use.used >= max || use.spentUntil !== undefined) return day;
      }
      for (const day of days) await quota.charge(account, day);
      return undefined;
    });
  }

  /**
   * Charges one request to a day without checking the limit, because the service may have counted the request on that
   * day.
   */
  async charge(account: string, day: string): Promise<void> {
    await count(this.context.db, { account, day });
  }

  /**
   * Records that the service reported the account's daily allowance as used up until `until`, in epoch milliseconds.
   */
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
   * Records that the service counted `reported` requests on a day, including Sluice's own. If the service's count and
   * ours differ, the higher one is used. The usage by other programs never decreases. Returns the day's updated usage.
   */
  reconcile(
    account: string,
    day: string,
    report: { reported: number; allowance: number | undefined },
  ): Promise<DayUse> {
    const { reported, allowance } = report;
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

  /**
   * Returns until when the allowance is used up. If the wall clock was set back to a time before the service's report,
   * returns undefined, so that the wait doesn't become longer.
   */
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
