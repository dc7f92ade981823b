import { inTransaction, Repository } from '../engine/context.ts';
import { Settings } from '../settings.ts';
import { SendSlots } from './send-slots.ts';

const settingName = 'delivery.accounts';

/** The URL of a destination, and the account to which its requests were charged. */
interface LastAccount {
  readonly url: string;
  readonly account: string;
}

export interface DestinationAccount extends LastAccount {
  /** Name of the destination. */
  readonly name: string;
}

/**
 * Stores which account each destination's requests were last charged to. An account without a name in the config is
 * identified by its credentials, but the service counts requests per company, whichever key is used. If a key is
 * rotated, the requests of the current day must therefore also count for the new account; otherwise, the daily
 * allowance could be used twice.
 */
export class AccountHistory extends Repository {
  /**
   * Records each destination's current account. `daysInFlight` returns the days on which a request in flight may count.
   * It's called only if an account has changed, because loading a time zone's calendar takes 15 ms.
   */
  async track(payers: readonly DestinationAccount[], daysInFlight: () => readonly string[]): Promise<void> {
    const known = await this.#known();
    if (payers.every((payer) => isSame(known[payer.name], payer))) return;
    await inTransaction(this.context, async (inside) => new AccountHistory(inside).#take(payers, daysInFlight));
  }

  async #take(payers: readonly DestinationAccount[], daysInFlight: () => readonly string[]): Promise<void> {
    const known = await this.#known();
    for (const { name, url, account } of payers) {
      const { url: former, account: from = account } = known[name] ?? {};
      known[name] = { url, account };
      if (from === account || former !== url) continue;
      await this.#carryDays(from, account, daysInFlight());
      await new SendSlots(this.context).carry(from, account);
    }
    await new Settings(this.context).set(settingName, JSON.stringify(known));
  }

  async #known(): Promise<Record<string, LastAccount>> {
    const text = await new Settings(this.context).find(settingName);
    return text === undefined ? {} : (JSON.parse(text) as Record<string, LastAccount>);
  }

  /**
   * Copies the counts of these days to another account. Keeps the higher count if both accounts have one, so that no
   * request counts twice if a rotation is undone.
   */
  async #carryDays(from: string, to: string, days: readonly string[]): Promise<void> {
    const { db } = this.context;
    const rows = await db
      .selectFrom('quota')
      .selectAll()
      .where('account', '=', from)
      .where('day', 'in', [...days])
      .execute();
    for (const { account: _, ...row } of rows) {
      await db
        .insertInto('quota')
        .values({ ...row, account: to })
        .onConflict((conflict) =>
          conflict.columns(['account', 'day']).doUpdateSet(({ eb, fn, ref, val }) => ({
            used: eb.case().when('quota.used', '<', row.used).then(row.used).else(ref('quota.used')).end(),
            others: eb.case().when('quota.others', '<', row.others).then(row.others).else(ref('quota.others')).end(),
            allowance: fn.coalesce(ref('quota.allowance'), val(row.allowance)),
            spent_at: fn.coalesce(ref('quota.spent_at'), val(row.spent_at)),
            spent_until: fn.coalesce(ref('quota.spent_until'), val(row.spent_until)),
          })),
        )
        .execute();
    }
  }
}

function isSame(known: LastAccount | undefined, { url, account }: DestinationAccount): boolean {
  return known?.url === url && known.account === account;
}
