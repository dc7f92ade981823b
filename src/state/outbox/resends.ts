import { inTransaction, inTransactionOn, Repository } from '../engine/context.ts';
import { instanceLock } from '../engine/lock-keys.ts';
import { Runs } from '../runs/runs.ts';
import type { OutboxRow } from '../tables.ts';
import { givenUpAt } from './attempts.ts';
import { keyOf } from './instance-key.ts';
import { lateArrivals, lateMs } from './late-arrivals.ts';
import { pendingPayloads } from './pending-payloads.ts';
import { Receipts } from './receipts.ts';

/** A delivered payload that must be sent again. */
export interface Resend {
  readonly row: OutboxRow;
  /** The earliest time to send the payload again, in epoch milliseconds. */
  readonly dueAt: number;
}

/**
 * Finds delivered payloads that must be sent again (late-arrival protection). After Sluice has abandoned an upload, the
 * service may still process it, even after it has accepted a newer payload. The instance then shows old data, and no
 * error is reported. A payload is therefore sent again if it was delivered within ten minutes after an unanswered
 * attempt to send different content. It's sent when these ten minutes have passed. Only the last accepted payload is
 * sent again, and only if nothing else has been attempted since (invariant 3).
 */
export class Resends extends Repository {
  /** Returns all pending resends, whether they're due or not. */
  async all(): Promise<Resend[]> {
    const { db } = this.context;
    const ids = await lateArrivals(db);
    const repeats: Resend[] = [];
    for (const { id, since } of ids) {
      const row = await db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) continue;
      const waits = await pendingPayloads(this.context, keyOf(row));
      if (waits.some(({ state }) => state === 'owed')) continue;
      repeats.push({ row, dueAt: Math.max(since + lateMs, row.next_attempt_at ?? 0) });
    }
    return repeats;
  }

  /**
   * Records that a resend is about to start, in the same way as any attempt. Call this immediately before the request.
   * Returns undefined if the resend is no longer needed.
   */
  begin({ row }: Resend): Promise<OutboxRow | undefined> {
    return inTransactionOn(this.context, [instanceLock(keyOf(row))], async (inside) => {
      const fresh = (await new Resends(inside).all()).find((one) => one.row.id === row.id);
      if (fresh === undefined) return undefined;
      const now = Math.round(inside.clock.now());
      // If newer data is accepted before the result of this resend is known, the newer data must be sent again too.
      await inside.db
        .updateTable('outbox')
        .set({ unanswered_at: now, last_attempt_at: now })
        .where('id', '=', row.id)
        .execute();
      await new Runs(inside).countRequest(row.run);
      return fresh.row;
    });
  }

  /** Records that the service accepted the payload again. `row` is the return value of {@link begin}. */
  async delivered(row: OutboxRow): Promise<void> {
    await inTransaction(this.context, async (inside) => {
      await new Receipts(inside).repeated(keyOf(row));
      const { unanswered_at } = row;
      const settled = { unanswered_at, next_attempt_at: null };
      await inside.db.updateTable('outbox').set(settled).where('id', '=', row.id).execute();
    });
  }

  /** Schedules another attempt at the resend in `waitMs` milliseconds. */
  async postpone(row: OutboxRow, { waitMs, ambiguous }: { waitMs: number; ambiguous: boolean }): Promise<void> {
    const now = Math.round(this.context.clock.now());
    const unanswered_at = ambiguous ? givenUpAt(now) : row.unanswered_at;
    await this.context.db
      .updateTable('outbox')
      .set({ unanswered_at, next_attempt_at: now + Math.ceil(waitMs) })
      .where('id', '=', row.id)
      .execute();
  }

  /**
   * Records that the payload can't be sent again. It's then unknown which data the instance shows, so the job's next
   * run sends its data.
   */
  async giveUp(row: OutboxRow): Promise<void> {
    await new Receipts(this.context).distrust(keyOf(row));
  }

  /** Returns whether one of these payloads is needed for a resend. */
  async needs(rows: readonly OutboxRow[]): Promise<boolean> {
    for (const row of rows) {
      const [known] = await lateArrivals(this.context.db, row);
      if (known?.id === row.id) return true;
    }
    return false;
  }

  /** The files that are needed. */
  async paths(): Promise<Set<string>> {
    return new Set((await this.all()).map(({ row }) => row.path));
  }
}
