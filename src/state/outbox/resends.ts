import { inTransaction, Repository } from '../engine/context.ts';
import { Runs } from '../runs/runs.ts';
import type { OutboxRow } from '../tables.ts';
import { givenUpAt } from './attempts.ts';
import { keyOf } from './instance-key.ts';
import { lateArrivals, lateMs } from './late-arrivals.ts';
import { pendingPayloads } from './pending-payloads.ts';
import { Receipts } from './receipts.ts';

/** A delivered payload to send again. */
export interface Resend {
  readonly row: OutboxRow;
  /** When to send it at the earliest, in epoch milliseconds. */
  readonly dueAt: number;
}

/**
 * Delivered payloads to send again (late-arrival protection). The service may process an abandoned upload after it has
 * accepted a newer one. The instance then shows old data, and no error is reported. So if a payload was delivered
 * within ten minutes of an unanswered attempt with other bytes, it's sent again after those ten minutes. Only the
 * last accepted payload is resent, and only if nothing else was attempted since (invariant 3).
 */
export class Resends extends Repository {
  /** All pending resends, due or not. */
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

  /** Call this just before a resend, which is recorded like any attempt. Returns undefined if it's no longer needed. */
  begin({ row }: Resend): Promise<OutboxRow | undefined> {
    return inTransaction(this.context, async (inside) => {
      const fresh = (await new Resends(inside).all()).find((one) => one.row.id === row.id);
      if (fresh === undefined) return undefined;
      const now = Math.round(inside.clock.now());
      // If newer data is accepted while the result of this resend is unknown, that data must then be resent as well.
      await inside.db
        .updateTable('outbox')
        .set({ unanswered_at: now, last_attempt_at: now })
        .where('id', '=', row.id)
        .execute();
      await new Runs(inside).countRequest(row.run);
      return fresh.row;
    });
  }

  /** The service accepted the payload again. `row` is what {@link begin} returned. */
  async delivered(row: OutboxRow): Promise<void> {
    await inTransaction(this.context, async (inside) => {
      await new Receipts(inside).repeated(keyOf(row));
      const { unanswered_at } = row;
      const settled = { unanswered_at, next_attempt_at: null };
      await inside.db.updateTable('outbox').set(settled).where('id', '=', row.id).execute();
    });
  }

  /** Retry the resend after `waitMs` milliseconds. */
  async postpone(row: OutboxRow, { waitMs, ambiguous }: { waitMs: number; ambiguous: boolean }): Promise<void> {
    const now = Math.round(this.context.clock.now());
    const unanswered_at = ambiguous ? givenUpAt(now) : row.unanswered_at;
    await this.context.db
      .updateTable('outbox')
      .set({ unanswered_at, next_attempt_at: now + Math.ceil(waitMs) })
      .where('id', '=', row.id)
      .execute();
  }

  /** The payload can't be resent, so the instance's contents are unknown and the job's next run sends its data. */
  async giveUp(row: OutboxRow): Promise<void> {
    await new Receipts(this.context).distrust(keyOf(row));
  }

  /** Whether one of these rows is needed for a resend. */
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
