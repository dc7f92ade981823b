import { inTransaction, type StoreContext } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';

export interface DayUse {
  /** All that is known to be gone: our own requests and those of others. */
  readonly used: number;
  /** Of these, the ones that the service has counted beyond our own. */
  readonly others: number;
  /** What the service says that the account may use on this day; undefined when it has not said. */
  readonly allowance: number | undefined;
  /** Until when the service has said that nothing is left; undefined when it has not. */
  readonly spentUntil: number | undefined;
}

/**
 * Requests counted per account and day. What a day is, the caller knows; near midnight a request is charged to two.
 * Nothing is ever given back.
 */
export class Quota {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /**
   * Takes one request from each of the days, or none: undefined when taken, else the first day that had none left. The
   * limit may depend on what is known of the day.
   */
  take(
    account: string,
    days: readonly string[],
    limit: number | ((use: DayUse, day: string) => number),
  ): Promise<string | undefined> {
    return inTransaction(this.#context, async (inside) => {
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

  /** Counts one request on a day, whatever its limit: the service may have counted it there. */
  async charge(account: string, day: string): Promise<void> {
    await count(this.#context.db, { account, day });
  }

  /** The service says that the account's day is over until `until` (epoch ms). */
  async close(account: string, day: string, until: number): Promise<void> {
    const spent = { spent_at: Math.round(this.#context.clock.now()), spent_until: Math.round(until) };
    await this.#context.db
      .insertInto('quota')
      .values({ account, day, used: 0, ...spent })
      .onConflict((conflict) => conflict.columns(['account', 'day']).doUpdateSet(spent))
      .execute();
  }

  async use(account: string, day: string): Promise<DayUse> {
    const [row] = await ofDay(this.#context.db, { account, day });
    const { used: own = 0, others = 0, allowance } = row ?? {};
    const spentUntil = row && this.#stillSpent(row);
    return { used: own + others, others, allowance: allowance ?? undefined, spentUntil };
  }

  /**
   * The service has counted `reported` requests on a day, ours among them. The higher of the two counts is believed, and
   * what others were once seen to use stays used. Returns the day as it is known now.
   */
  reconcile(account: string, day: string, told: { reported: number; allowance: number | undefined }): Promise<DayUse> {
    const { reported, allowance } = told;
    return inTransaction(this.#context, async (inside) => {
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

  /** A wall clock that was set back below the moment of the answer must not stretch the wait. */
  #stillSpent({ spent_at, spent_until }: { spent_at: number | null; spent_until: number | null }): number | undefined {
    const now = this.#context.clock.now();
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
