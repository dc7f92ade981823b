import { redact } from '../../lib/redact.ts';
import { inTransaction, Repository } from '../engine/context.ts';
import type { UsageRow } from '../tables.ts';

/**
 * How long to wait after the service refused to report usage. In the meantime, the account may be given the permission.
 */
const refusedForMs = 7 * 86_400_000;

/**
 * Stores when the service was last asked for each account's usage. All processes use this time, so that together they
 * don't ask too often.
 */
export class UsageChecks extends Repository {
  /**
   * Claims the right to check the account's usage now. Returns false if any process has checked it within `everyMs`, or
   * if the service has refused recently. The interval starts now, whatever the result of the check is. If the clock was
   * set back to a time before the last check, a check is allowed.
   */
  claim(account: string, everyMs: number): Promise<boolean> {
    return inTransaction(this.context, async (inside) => {
      const now = Math.round(inside.clock.now());
      const row = await new UsageChecks(inside).find(account);
      const rest = row?.refused == null ? everyMs : Math.max(everyMs, refusedForMs);
      if (row !== undefined && row.checked_at <= now && now < row.checked_at + rest) return false;
      await inside.db
        .insertInto('usage_checks')
        .values({ account, checked_at: now, refused: null })
        .onConflict((conflict) => conflict.column('account').doUpdateSet({ checked_at: now, refused: null }))
        .execute();
      return true;
    });
  }

  /** Records that the service refused to report the account's usage. */
  async refuse(account: string, why: string): Promise<void> {
    await this.context.db
      .updateTable('usage_checks')
      .set({ refused: redact(why) })
      .where('account', '=', account)
      .execute();
  }

  async find(account: string): Promise<UsageRow | undefined> {
    return this.context.db.selectFrom('usage_checks').selectAll().where('account', '=', account).executeTakeFirst();
  }
}
