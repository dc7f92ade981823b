import { inTransaction, type StoreContext } from '../engine/context.ts';
import { Settings } from '../settings.ts';
import { SendSlots } from './send-slots.ts';

const settingName = 'delivery.accounts';

/** Where a destination leads, and the account that its requests were paid from. */
interface LastAccount {
  readonly url: string;
  readonly account: string;
}

export interface DestinationAccount extends LastAccount {
  /** Name of the destination. */
  readonly name: string;
}

/**
 * Which account each destination paid from last. Without a name of their own accounts are told apart by their credentials, but
 * the service counts what a company sends, by whatever key: where a key is exchanged, what was used of the day has to come
 * along, or the day would be spent twice.
 */
export class AccountHistory {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Takes up who pays from where now; `days` are those that a request under way may count on. */
  async track(payers: readonly DestinationAccount[], days: readonly string[]): Promise<void> {
    const known = await this.#known();
    if (payers.every((payer) => isSame(known[payer.name], payer))) return;
    await inTransaction(this.#context, async (inside) => new AccountHistory(inside).#take(payers, days));
  }

  async #take(payers: readonly DestinationAccount[], days: readonly string[]): Promise<void> {
    const known = await this.#known();
    for (const { name, url, account } of payers) {
      const { url: former, account: from = account } = known[name] ?? {};
      known[name] = { url, account };
      if (from === account || former !== url) continue;
      await this.#carryDays(from, account, days);
      await new SendSlots(this.#context).carry(from, account);
    }
    await new Settings(this.#context).set(settingName, JSON.stringify(known));
  }

  async #known(): Promise<Record<string, LastAccount>> {
    const text = await new Settings(this.#context).find(settingName);
    return text === undefined ? {} : (JSON.parse(text) as Record<string, LastAccount>);
  }

  /** The higher of two counts is believed: an exchange that is taken back must not count anything twice. */
  async #carryDays(from: string, to: string, days: readonly string[]): Promise<void> {
    const { db } = this.#context;
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
          conflict.columns(['account', 'day']).doUpdateSet(({ fn, ref, val }) => ({
            used: fn<number>('max', [ref('quota.used'), val(row.used)]),
            others: fn<number>('max', [ref('quota.others'), val(row.others)]),
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
