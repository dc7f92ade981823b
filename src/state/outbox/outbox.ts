import { redact } from '../../lib/redact.ts';
import { advanceCheckpoint, readvanceCheckpoint, rewindCheckpoint } from '../checkpoints/checkpoint.ts';
import { inTransaction, inTransactionOn, joinTransaction, Repository } from '../engine/context.ts';
import { instanceLock, jobLock } from '../engine/lock-keys.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import { Runs } from '../runs/runs.ts';
import type { OutboxRow, OutboxState } from '../tables.ts';
import { assertWhole } from './assert-whole.ts';
import { begun, failuresIn, givenUpAt, giveUpOthers, oneLess } from './attempts.ts';
import { instanceKeyOf, keyOf } from './instance-key.ts';
import {
  type NewPayload,
  pendingFor,
  recordPayload,
  storeFiles,
  storeKeptRows,
  type UnsealedPayload,
} from './new-payload.ts';
import { type FailureReason, settlePayload } from './payload-state.ts';
import { oldestFirst, pendingPayloads } from './pending-payloads.ts';
import { newest, Receipts } from './receipts.ts';

export type EnqueueResult =
  | { readonly state: 'owed'; readonly row: OutboxRow; readonly superseded: readonly OutboxRow[] }
  /** The payload was superseded immediately, because newer data was delivered or is owed. */
  | { readonly state: 'superseded'; readonly row: OutboxRow; readonly superseded: readonly OutboxRow[] }
  /** The instance already has the same bytes, so nothing needs to be sent. */
  | { readonly state: 'unchanged'; readonly superseded: readonly OutboxRow[] };

/** A payload that is about to be sent. */
export type AttemptedPayload = OutboxRow & {
  /** Whether it was known before this attempt which data the instance had. */
  readonly wasCertain: boolean;
};

/** Stores the durable list of owed payloads (invariants 2 and 3). */
export class Outbox extends Repository {
  /**
   * Enqueues a payload, in the transaction that also settles its run. The payload supersedes the instance's owed,
   * quarantined and dead payloads. If newer data is already owed or was tried, the new payload itself is superseded. If
   * the instance is known to have the same bytes, the payload isn't recorded. The payload's file must exist.
   */
  async enqueue(owing: NewPayload): Promise<EnqueueResult> {
    await storeFiles(this.context, owing);
    return inTransactionOn(this.context, keysOf(owing), async (inside) => {
      await assertWhole(inside, owing.payload);
      await new Runs(inside).assertOwn(owing.run);
      const { waiting, owed, isOld } = await pendingFor(inside, owing);
      if (isOld) return { state: 'superseded', row: await recordPayload(inside, owing, 'superseded'), superseded: [] };
      const outbox = new Outbox(inside);
      for (const row of waiting) await outbox.supersede(row);
      await advanceCheckpoint(inside, owing);
      if (await outbox.#isShown(owing)) {
        await outbox.#settleUnchanged(owing);
        return { state: 'unchanged', superseded: waiting };
      }
      const since = Math.min(...owed.map(({ waiting_since }) => waiting_since));
      return { state: 'owed', row: await recordPayload(inside, owing, 'owed', since), superseded: waiting };
    });
  }

  /**
   * Like {@link enqueue}, but only for bytes that the instance already has, so the payload's file doesn't need to
   * exist. If it isn't certain that the instance has these bytes, or if another payload is waiting for the instance,
   * changes nothing and returns false.
   */
  async settleIfShown(owing: UnsealedPayload): Promise<boolean> {
    await storeKeptRows(this.context, owing);
    return inTransactionOn(this.context, keysOf(owing), async (inside) => {
      await new Runs(inside).assertOwn(owing.run);
      const outbox = new Outbox(inside);
      const { waiting, isOld } = await pendingFor(inside, owing);
      if (isOld || waiting.length > 0 || !(await outbox.#isShown(owing))) return false;
      await advanceCheckpoint(inside, owing);
      await outbox.#settleUnchanged(owing);
      return true;
    });
  }

  async #isShown(owing: UnsealedPayload): Promise<boolean> {
    return !owing.always && (await new Receipts(this.context).holds(instanceKeyOf(owing), owing.payload));
  }

  async #settleUnchanged({ payload, ...owing }: UnsealedPayload): Promise<void> {
    await new Receipts(this.context).renew(instanceKeyOf(owing), payload.asOf);
    await new Runs(this.context).settle(owing.run, { state: 'unchanged', rows: payload.rows, bytes: payload.bytes });
  }

  /**
   * Records that an attempt is about to start (write-ahead). Call this immediately before each request. Counts the
   * attempt, and marks the instance's receipt as uncertain, so that the payload is sent again after a crash. If the
   * process died during an earlier attempt, that attempt counts as a crash and not as a failure, because the payload
   * isn't to blame for a power loss. Returns undefined if the payload is no longer owed.
   */
  attempt(id: number): Promise<AttemptedPayload | undefined> {
    return joinTransaction(this.context, async (inside) => {
      const now = Math.round(inside.clock.now());
      const row = await inside.db
        .updateTable('outbox')
        .set((column) => begun(column, now))
        .where('id', '=', id)
        .where('state', '=', 'owed')
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return undefined;
      await giveUpOthers(inside, row, now);
      const wasCertain = await new Receipts(inside).doubt(keyOf(row), contentsOf(row));
      await new Runs(inside).countRequest(row.run);
      return { ...row, wasCertain };
    });
  }

  /** Records that the service rejected the payload. The instance therefore still has its previous data. */
  async refused({ wasCertain, ...row }: AttemptedPayload): Promise<void> {
    if (wasCertain) await new Receipts(this.context).trust(keyOf(row));
  }

  /**
   * Records that the service accepted the payload. Updates the receipt, the payload and the run in one transaction,
   * even if the payload was superseded while it was being sent.
   */
  async delivered(row: OutboxRow): Promise<void> {
    await inTransactionOn(this.context, [instanceLock(keyOf(row))], async (inside) => {
      // This attempt got a response, but earlier attempts may still be unanswered, so restore the earlier value.
      const { unanswered_at } = row;
      await inside.db.updateTable('outbox').set({ unanswered_at }).where('id', '=', row.id).execute();
      await new Receipts(inside).confirm(keyOf(row), contentsOf(row));
      const from = ['owed', 'superseded', 'dead'] as const;
      if (await settlePayload(inside, row.id, { state: 'delivered', from, untaken: true })) {
        await new Runs(inside).settle(row.run, { state: 'delivered' });
      }
    });
  }

  /**
   * Settles a payload without a request, because the instance already has the same bytes. Returns false if the payload
   * is no longer owed.
   */
  async unchanged(row: OutboxRow): Promise<boolean> {
    return inTransactionOn(this.context, [instanceLock(keyOf(row))], async (inside) => {
      if (!(await settlePayload(inside, row.id, { state: 'delivered', from: ['owed'] }))) return false;
      await new Receipts(inside).renew(keyOf(row), row.as_of);
      await new Runs(inside).settle(row.run, { state: 'unchanged' });
      return true;
    });
  }

  /**
   * Records that an attempt failed. The payload stays owed. It's tried again after `waitMs` or, if that's undefined, as
   * soon as the cause is gone. `free` means that the attempt doesn't count. `blamed` means that the failure counts
   * against this payload, because the service accepts others. `untaken` means that the service hasn't processed the
   * request and never will.
   */
  postpone(
    id: number,
    trouble: FailureReason & { waitMs?: number; free: boolean; blamed?: boolean; untaken?: boolean },
  ): Promise<void> {
    return inTransaction(this.context, async ({ db, clock }) => {
      const now = Math.round(clock.now());
      const row = db.updateTable('outbox').where('id', '=', id);
      if (trouble.untaken !== true) await row.set({ unanswered_at: givenUpAt(now) }).execute();
      await row
        .set((column) => ({
          attempts: trouble.free ? oneLess(column) : column.ref('attempts'),
          faults: column('faults', '+', trouble.blamed === true ? 1 : 0),
          last_attempt_at: now,
          next_attempt_at: trouble.waitMs === undefined ? null : now + Math.ceil(trouble.waitMs),
          code: trouble.code,
          message: redact(trouble.message),
        }))
        .where('state', '=', 'owed')
        .execute();
    });
  }

  /** Records why a payload isn't being sent, without counting an attempt. Returns true if the reason is new. */
  async note(id: number, trouble: FailureReason): Promise<boolean> {
    const news = { code: trouble.code, message: redact(trouble.message) };
    const row = await this.context.db
      .updateTable('outbox')
      .set((column) => ({ ...news, attempts: failuresIn(column) }))
      .where('id', '=', id)
      .where('state', '=', 'owed')
      .where((where) => where.or([where('code', 'is', null), where('code', '<>', trouble.code)]))
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Marks the payload as dead, so that it isn't tried again automatically. Returns false if it's no longer owed. For
   * `untaken`, see {@link postpone}.
   */
  async markDead(id: number, trouble: FailureReason & { untaken?: boolean }): Promise<boolean> {
    return inTransaction(this.context, async (inside) => {
      if (!(await settlePayload(inside, id, { state: 'dead', from: ['owed'], ...trouble }))) return false;
      const row = await new Outbox(inside).find(id);
      if (row === undefined) return true;
      await new Runs(inside).settle(row.run, { state: 'dead', problem: trouble });
      await rewindCheckpoint(inside, row.run);
      return true;
    });
  }

  /**
   * Moves an owed payload to its destination's new URL. If several payloads are then owed to the instance, only the one
   * with the newest data stays owed. Returns undefined if the row no longer exists.
   */
  readdress(id: number, url: string): Promise<OutboxRow | undefined> {
    return inTransaction(this.context, async (inside) => {
      const outbox = new Outbox(inside);
      const row = await outbox.find(id);
      if (row?.state !== 'owed') return row;
      const key = { ...keyOf(row), url };
      const waiting = await pendingPayloads(inside, key);
      const tried = (await new Receipts(inside).find(key))?.tried_as_of;
      const owed = waiting.filter(({ state }) => state === 'owed').map(({ as_of }) => as_of);
      const isOld = newest(inside.clock.now(), [...owed, tried]) > row.as_of;
      for (const other of isOld ? [row] : waiting) await outbox.supersede(other);
      if (!isOld) await inside.db.updateTable('outbox').set({ url }).where('id', '=', id).execute();
      return outbox.find(id);
    });
  }

  /**
   * Makes a dead payload owed again and resets its attempt counts. Returns false if newer data has made the payload
   * obsolete.
   */
  async requeue(id: number): Promise<boolean> {
    return inTransaction(this.context, async (inside) => {
      const row = await new Outbox(inside).find(id);
      if (row?.state !== 'dead') return false;
      const receipt = await new Receipts(inside).find(keyOf(row));
      if (receipt?.certain === 1 && receipt.as_of > row.as_of) return false;
      const fresh = {
        state: 'owed' as const,
        attempts: 0,
        crashes: 0,
        faults: 0,
        settled_at: null,
        code: null,
        message: null,
      };
      await inside.db.updateTable('outbox').set(fresh).where('id', '=', id).execute();
      await new Runs(inside).owed(row.run, { rows: row.row_count, bytes: row.bytes });
      await readvanceCheckpoint(inside, row);
      return true;
    });
  }

  async find(id: number): Promise<OutboxRow | undefined> {
    return (await byId(this.context.db, { id }))[0];
  }

  /** Returns the run's payload, or undefined if the run has none. */
  async ofRun(run: string): Promise<OutboxRow | undefined> {
    return this.context.db.selectFrom('outbox').selectAll().where('run', '=', run).executeTakeFirst();
  }

  /** Oldest first. */
  async inState(...states: readonly OutboxState[]): Promise<OutboxRow[]> {
    const found = states.map((state) => ofState(this.context.db, { state }));
    return oldestFirst((await Promise.all(found)).flat());
  }

  /** Marks the payload as superseded. The guard findings and service errors of its run stay in the history. */
  async supersede(row: OutboxRow): Promise<void> {
    const from = ['owed', 'quarantined', 'dead'] as const;
    if (!(await settlePayload(this.context, row.id, { state: 'superseded', from }))) return;
    if (row.state === 'owed') await new Runs(this.context).settle(row.run, { state: 'superseded' });
  }
}

const keysOf = (owing: UnsealedPayload) => [jobLock(owing.job), instanceLock(instanceKeyOf(owing))];

const contentsOf = ({ sha256, bytes, format, as_of }: OutboxRow) => ({ sha256, bytes, format, asOf: as_of });

const byId = prepared((db, value: BoundValue<{ id: number }>) =>
  db.selectFrom('outbox').selectAll().where('id', '=', value('id')),
);

const ofState = prepared((db, value: BoundValue<{ state: OutboxState }>) =>
  db.selectFrom('outbox').selectAll().where('state', '=', value('state')),
);
