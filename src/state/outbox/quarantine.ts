import { advanceHeldCheckpoint, holdCheckpoint } from '../checkpoints/checkpoint.ts';
import { inTransaction, Repository, type StoreContext } from '../engine/context.ts';
import { storedPath } from '../engine/stored-paths.ts';
import { Audit, type Decided, type DecidedBy } from '../runs/audit.ts';
import { Runs } from '../runs/runs.ts';
import type { OutboxRow, QuarantineRow } from '../tables.ts';
import { assertWhole } from './assert-whole.ts';
import type { GoodPayload } from './good-payloads.ts';
import { type InstanceKey, instanceKeyOf, keyOf } from './instance-key.ts';
import { type NewPayload, recordPayload, storeFiles } from './new-payload.ts';
import { Outbox } from './outbox.ts';
import { pendingPayloads } from './pending-payloads.ts';
import { Receipts } from './receipts.ts';

/** Why a payload is quarantined. */
export interface GuardVerdict {
  /** The findings of each guard, as JSON. */
  readonly findings: string;
  /** A sentence that summarizes the findings, for the history and the log. */
  readonly message: string;
  /** The payload that the guards compared the quarantined payload with. */
  readonly last?: GoodPayload;
}

/** A quarantined payload with the guards' findings. */
export type Quarantined = OutboxRow & Omit<QuarantineRow, 'id'>;

/** Stores quarantined payloads. They're complete and on disk, but aren't sent unless a user approves them. */
export class Quarantine extends Repository {
  /**
   * Quarantines a payload, in the transaction that also settles its run. Supersedes an earlier quarantined payload of
   * the same instance. Doesn't change owed and dead payloads or the job's watermark.
   */
  async put(
    owing: NewPayload,
    { findings, message, last }: GuardVerdict,
  ): Promise<{ id: number; superseded: readonly OutboxRow[] }> {
    await storeFiles(this.context, owing);
    return inTransaction(this.context, async (inside) => {
      await assertWhole(inside, owing.payload);
      await new Runs(inside).assertOwn(owing.run);
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

  /**
   * Returns all payloads in the history that have ever been quarantined, oldest first. A payload's state shows what
   * happened to it.
   */
  async all(): Promise<Quarantined[]> {
    return joined(this.context).orderBy('outbox.id').execute();
  }

  /** Returns whether a user has approved a payload with exactly these bytes for this instance. */
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
   * Approves a quarantined payload. The payload becomes owed, and the job's watermark advances to the end of the
   * payload's extract. Returns undefined if the payload is no longer quarantined, or if newer data is already owed or
   * delivered.
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

  /**
   * Discards a quarantined payload permanently. Doesn't change the job's checkpoint. Returns undefined if the payload
   * is no longer quarantined.
   */
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
