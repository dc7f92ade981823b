import { inTransaction, Repository, type StoreContext } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import type { AccountRow } from '../tables.ts';

/**
 * Recovery interval. After a slowdown, the rate increases by one request per second for each interval without a
 * rejection (additive increase).
 */
const regainMs = 60_000;
/**
 * Rejections within this time count as one, because requests that were already in flight at the first rejection are
 * rejected too.
 */
const togetherMs = 2_000;

/** Stores the state of accounts: the pause that the service requested, and the current request rate. */
export class Accounts extends Repository {
  /** Pauses all requests of the account for this long, unless it's already paused for longer. */
  hold(account: string, milliseconds: number): Promise<void> {
    return inTransaction(this.context, async (inside) => {
      const now = Math.round(inside.clock.now());
      const until = Math.max(now + Math.ceil(milliseconds), (await new Accounts(inside).heldUntil(account)) ?? 0);
      const held = { paused_at: now, paused_until: until };
      await inside.db
        .insertInto('accounts')
        .values({ account, ...held, slowed_to: null, slowed_at: null })
        .onConflict((conflict) => conflict.column('account').doUpdateSet(held))
        .execute();
    });
  }

  /**
   * Halves the account's rate, which then recovers slowly (AIMD). Call this if the service rejects requests although
   * Sluice sends at most `most` per second; another program must then be using the account too. Returns the new rate.
   * Returns undefined if this rejection was already counted.
   */
  slow(account: string, maxPace: number): Promise<number | undefined> {
    return inTransaction(this.context, async (inside) => {
      const now = Math.round(inside.clock.now());
      const row = await rowOf(inside, account);
      const last = row?.slowed_at ?? Number.NEGATIVE_INFINITY;
      if (last <= now && now - last < togetherMs) return undefined;
      const slowed_to = Math.max(1, Math.floor(paceIn(row, maxPace, now) / 2));
      await inside.db
        .insertInto('accounts')
        .values({ account, paused_at: 0, paused_until: 0, slowed_to, slowed_at: now })
        .onConflict((conflict) => conflict.column('account').doUpdateSet({ slowed_to, slowed_at: now }))
        .execute();
      return slowed_to;
    });
  }

  /**
   * Returns how many requests per second the account may currently send. This is `most` if the service hasn't rejected
   * any requests recently.
   */
  async pace(account: string, maxPace: number): Promise<number> {
    return (await this.look(account, maxPace)).pace;
  }

  /**
   * Returns the end of the account's pause, in epoch milliseconds. Returns undefined if the account isn't paused, or if
   * the clock was set back to a time before the pause started.
   */
  async heldUntil(account: string): Promise<number | undefined> {
    return (await this.look(account, 1)).heldUntil;
  }

  /** Returns {@link pace} and {@link heldUntil} with a single read. */
  async look(account: string, maxPace: number): Promise<{ pace: number; heldUntil: number | undefined }> {
    const now = this.context.clock.now();
    const row = await rowOf(this.context, account);
    const isHeld = row !== undefined && row.paused_at <= now && now < row.paused_until;
    return { pace: paceIn(row, maxPace, now), heldUntil: isHeld ? row.paused_until : undefined };
  }
}

async function rowOf({ db }: StoreContext, account: string): Promise<AccountRow | undefined> {
  return (await byName(db, { account }))[0];
}

const byName = prepared((db, value: BoundValue<{ account: string }>) =>
  db.selectFrom('accounts').selectAll().where('account', '=', value('account')),
);

/**
 * Returns the account's current rate. Ignores the slowdown if the clock was set back to a time before the rejection.
 */
function paceIn(row: AccountRow | undefined, maxPace: number, now: number): number {
  const { slowed_to = null, slowed_at = null } = row ?? {};
  if (slowed_to === null || slowed_at === null || now < slowed_at) return maxPace;
  return Math.min(maxPace, slowed_to + Math.floor((now - slowed_at) / regainMs));
}
