import { advanceHeldCheckpoint, holdCheckpoint } from '../checkpoints/checkpoint.ts';
import { inTransaction, Repository, type StoreContext } from '../engine/context.ts';
import { storedPath } from '../engine/stored-paths.ts';
import { Audit, type Decided, type DecidedBy } from '../runs/audit.ts';
import { Runs } from '../runs/runs.ts';
import type { OutboxRow, QuarantineRow } from '../tables.ts';
import { assertWhole } from './assert-whole.ts';
import type { GoodPayload } from './good-payloads.ts';
import { type InstanceKey, instanceKeyOf, keyOf } from './instance-key.ts';
import { type NewPayload, recordPayload } from './new-payload.ts';
import { Outbox } from './outbox.ts';
import { pendingPayloads } from './pending-payloads.ts';
import { Receipts } from './receipts.ts';

/** Why a payload is quarantined. */
export interface GuardVerdict {
  /** Each guard's findings, as JSON. */
  readonly findings: string;
  /** One sentence for the history and the log. */
  readonly message: string;
  /** The payload that it was compared with. */
  readonly last?: GoodPayload;
}

/** A quarantined payload with its findings. */
export type Quarantined = OutboxRow & Omit<QuarantineRow, 'id'>;

/** Quarantined payloads: complete and on disk, but not sent until a user approves them. */
export class Quarantine extends Repository {
  /**
   * Quarantines a payload in one transaction with its run. Replaces an earlier quarantined payload of the same
   * instance. Owed and dead payloads and the job's watermark don't change.
   */
  put(
    owing: NewPayload,
    { findings, message, last }: GuardVerdict,
  ): Promise<{ id: number; superseded: readonly OutboxRow[] }> {
    return inTransaction(this.context, async (inside) => {
      assertWhole(owing.payload);
      const before = (await pendingPayloads(inside, instanceKeyOf(owing))).filter(
        ({ state }) => state === 'quarantined',
      );
      for (const row of before) await new Outbox(inside).supersede(row);
      const { id } = await recordPayload(inside, owing, 'quarantined');
      await holdCheckpoint(inside, owing);
      const trouble = { code: 'GUARD_FAILED', message };
      await inside.db.updateTable('outbox').set(trouble).where('id', '=', id).execute();
      await new Runs(inside).settle(owing.run, { state: 'quarantined', problem: trouble });
      await inside.db
        .insertInto('quarantine')
        .values({
          id,
          findings,
          last_run: last?.run ?? null,
          last_rows: last?.row_count ?? null,
          last_bytes: last?.bytes ?? null,
          last_path: last === undefined ? null : storedPath(inside.folder, last.path),
          reading: owing.watermark?.reading ?? null,
          watermark: owing.watermark?.text ?? null,
        })
        .execute();
      return { id, superseded: before };
    });
  }

  /** All payloads in the history that were ever quarantined, oldest first. Their state shows what became of them. */
  async all(): Promise<Quarantined[]> {
    return joined(this.context).orderBy('outbox.id').execute();
  }

  /** Whether a user has approved these exact bytes for this instance. */
  async hasApproved({ url, instance, clientId = '' }: InstanceKey, sha256: string): Promise<boolean> {
    const row = await this.context.db
      .selectFrom('outbox')
      .innerJoin('quarantine', 'quarantine.id', 'outbox.id')
      .select('outbox.id')
      .where('url', '=', url)
      .where('client_id', '=', clientId)
      .where('instance', '=', instance)
      .where('sha256', '=', sha256)
      .where('state', 'in', ['owed', 'delivered'])
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Approves a payload: it becomes owed, and the job's watermark advances to the end of the payload's extract. Returns
   * undefined if the payload is no longer quarantined, or if newer data is already owed or delivered.
   */
  approve(id: number, by: DecidedBy): Promise<Decided | undefined> {
    return inTransaction(this.context, async (inside) => {
      const row = await held(inside, id);
      if (row === undefined) return undefined;
      const receipt = await new Receipts(inside).find(keyOf(row));
      if (receipt?.certain === 1 && receipt.as_of > row.as_of) return undefined;
      const others = (await pendingPayloads(inside, keyOf(row))).filter((other) => other.id !== id);
      if (others.some(({ state, as_of }) => state === 'owed' && as_of > row.as_of)) return undefined;
      for (const other of others) await new Outbox(inside).supersede(other);
      const owed_at = Math.round(inside.clock.now());
      const fresh = {
        state: 'owed' as const,
        owed_at,
        waiting_since: owed_at,
        settled_at: null,
        code: null,
        message: null,
      };
      await inside.db.updateTable('outbox').set(fresh).where('id', '=', id).execute();
      await new Runs(inside).owed(row.run, { rows: row.row_count, bytes: row.bytes });
      const { job, run, reading, watermark: text } = row;
      const known = reading === null || text === null ? {} : { watermark: { reading, text } };
      await advanceHeldCheckpoint(inside, { job, run, ...known });
      await new Audit(inside).write({ by, action: 'approve', job: row.job, run: row.run });
      return { row: { ...row, ...fresh }, superseded: others };
    });
  }

  /** Discards a payload permanently, without changing a checkpoint. Returns undefined if it's no longer quarantined. */
  discard(id: number, by: DecidedBy): Promise<Decided | undefined> {
    return inTransaction(this.context, async (inside) => {
      const row = await held(inside, id);
      if (row === undefined) return undefined;
      const settled = { state: 'discarded' as const, settled_at: Math.round(inside.clock.now()) };
      await inside.db.updateTable('outbox').set(settled).where('id', '=', id).execute();
      await new Runs(inside).settle(row.run, { state: 'discarded' });
      await new Audit(inside).write({ by, action: 'discard', job: row.job, run: row.run });
      return { row: { ...row, ...settled }, superseded: [] };
    });
  }
}

function held(inside: StoreContext, id: number): Promise<Quarantined | undefined> {
  return joined(inside).where('outbox.id', '=', id).where('state', '=', 'quarantined').executeTakeFirst();
}

function joined({ db }: StoreContext) {
  return db
    .selectFrom('outbox')
    .innerJoin('quarantine', 'quarantine.id', 'outbox.id')
    .selectAll('outbox')
    .select(['findings', 'last_run', 'last_rows', 'last_bytes', 'last_path', 'reading', 'watermark']);
}
