import { inTransaction, Repository, type StoreContext } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import type { AccountRow } from '../tables.ts';

/**
 * After a slowdown, the rate increases by one request per second after each period of this length without a refusal
 * (additive increase).
 */
const regainMs = 60_000;
/**
 * Refusals within this time count as one, because requests already in flight at the first refusal are refused as well.
 */
const togetherMs = 2_000;

/** State of a whole account: the pause that the service requested, and the current request rate. */
export class Accounts extends Repository {
  /** Pauses all requests of the account for this long, unless a longer pause is already set. */
  async hold(account: string, milliseconds: number): Promise<void> {
    const now = Math.round(this.context.clock.now());
    const until = Math.max(now + Math.ceil(milliseconds), (await this.heldUntil(account)) ?? 0);
    const held = { paused_at: now, paused_until: until };
    await this.context.db
      .insertInto('accounts')
      .values({ account, ...held, slowed_to: null, slowed_at: null })
      .onConflict((conflict) => conflict.column('account').doUpdateSet(held))
      .execute();
  }

  /**
   * Call this if the service refuses requests although we send at most `most` per second, because someone else uses the
   * account too. Halves the rate, which then recovers slowly (AIMD). Returns the new rate; undefined if this refusal
   * was already counted.
   */
  slow(account: string, most: number): Promise<number | undefined> {
    return inTransaction(this.context, async (inside) => {
      const now = Math.round(inside.clock.now());
      const row = await rowOf(inside, account);
      const last = row?.slowed_at ?? Number.NEGATIVE_INFINITY;
      if (last <= now && now - last < togetherMs) return undefined;
      const slowed_to = Math.max(1, Math.floor(paceIn(row, most, now) / 2));
      await inside.db
        .insertInto('accounts')
        .values({ account, paused_at: 0, paused_until: 0, slowed_to, slowed_at: now })
        .onConflict((conflict) => conflict.column('account').doUpdateSet({ slowed_to, slowed_at: now }))
        .execute();
      return slowed_to;
    });
  }

  /** Requests per second that are allowed now; `most` if the service hasn't refused any recently. */
  async pace(account: string, most: number): Promise<number> {
    return (await this.look(account, most)).pace;
  }

  /** End of the pause (epoch ms); undefined if there is none, or if the clock was set back to before its start. */
  async heldUntil(account: string): Promise<number | undefined> {
    return (await this.look(account, 1)).heldUntil;
  }

  /** {@link pace} and {@link heldUntil} from one read. */
  async look(account: string, most: number): Promise<{ pace: number; heldUntil: number | undefined }> {
    const now = this.context.clock.now();
    const row = await rowOf(this.context, account);
    const isHeld = row !== undefined && row.paused_at <= now && now < row.paused_until;
    return { pace: paceIn(row, most, now), heldUntil: isHeld ? row.paused_until : undefined };
  }
}

async function rowOf({ db }: StoreContext, account: string): Promise<AccountRow | undefined> {
  return (await byName(db, { account }))[0];
}

const byName = prepared((db, value: BoundValue<{ account: string }>) =>
  db.selectFrom('accounts').selectAll().where('account', '=', value('account')),
);

/** If the clock was set back to before the refusal, the slowdown is dropped. */
function paceIn(row: AccountRow | undefined, most: number, now: number): number {
  const { slowed_to = null, slowed_at = null } = row ?? {};
  if (slowed_to === null || slowed_at === null || now < slowed_at) return most;
  return Math.min(most, slowed_to + Math.floor((now - slowed_at) / regainMs));
}
