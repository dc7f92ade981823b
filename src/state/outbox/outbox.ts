import { redact } from '../../lib/redact.ts';
import { advanceCheckpoint, readvanceCheckpoint, rewindCheckpoint } from '../checkpoints/checkpoint.ts';
import { inTransaction, Repository } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import { Runs } from '../runs/runs.ts';
import type { OutboxRow, OutboxState } from '../tables.ts';
import { assertWhole } from './assert-whole.ts';
import { begun, failuresIn, givenUpAt, giveUpOthers, oneLess, unansweredIn } from './attempts.ts';
import { instanceKeyOf, keyOf } from './instance-key.ts';
import { type NewPayload, pendingFor, recordPayload, type UnsealedPayload } from './new-payload.ts';
import { oldestFirst, pendingPayloads } from './pending-payloads.ts';
import { newest, Receipts } from './receipts.ts';

export type EnqueueResult =
  | { readonly state: 'owed'; readonly row: OutboxRow; readonly superseded: readonly OutboxRow[] }
  /** Newer data was delivered or is owed. */
  | { readonly state: 'superseded'; readonly row: OutboxRow; readonly superseded: readonly OutboxRow[] }
  /** The instance already has these bytes: nothing to send. */
  | { readonly state: 'unchanged'; readonly superseded: readonly OutboxRow[] };

export interface FailureReason {
  readonly code: string;
  readonly message: string;
}

/** A payload whose request is about to start. */
export type AttemptedPayload = OutboxRow & {
  /** True if the instance's contents were known before this attempt. */
  readonly wasCertain: boolean;
};

/** The durable list of payloads that are owed (invariants 2 and 3). */
export class Outbox extends Repository {
  /**
   * Enqueues a payload in one transaction with its run. It supersedes the instance's owed, quarantined and dead
   * payloads. If newer data is already owed or was tried, the new payload is superseded itself; if the instance is
   * known to have the same bytes, it isn't recorded. The file must exist.
   */
  enqueue(owing: NewPayload): Promise<EnqueueResult> {
    return inTransaction(this.context, async (inside) => {
      assertWhole(owing.payload);
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
   * Like {@link enqueue}, but only for bytes that the instance already has, so the file isn't needed. If the instance
   * isn't known to have them or another payload waits for it, changes nothing and returns false.
   */
  settleIfShown(owing: UnsealedPayload): Promise<boolean> {
    return inTransaction(this.context, async (inside) => {
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
   * Write-ahead: call this just before a request. Counts the attempt and marks the receipt as doubtful, so that the
   * payload is sent again after a crash. An earlier attempt whose process died counts as a crash and not as a failure,
   * because the payload didn't cause the power loss. Returns undefined if the payload is no longer owed.
   */
  attempt(id: number): Promise<AttemptedPayload | undefined> {
    return inTransaction(this.context, async (inside) => {
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

  /** Records that the service rejected the payload, so the instance still has its previous contents. */
  async refused({ wasCertain, ...row }: AttemptedPayload): Promise<void> {
    if (wasCertain) await new Receipts(this.context).trust(keyOf(row));
  }

  /**
   * Records that the service accepted the payload. Updates receipt, payload and run in one transaction, even if the
   * payload was superseded in flight.
   */
  async delivered(row: OutboxRow): Promise<void> {
    await inTransaction(this.context, async (inside) => {
      // This attempt got a response, but earlier attempts may still be unanswered.
      const { unanswered_at } = row;
      await inside.db.updateTable('outbox').set({ unanswered_at }).where('id', '=', row.id).execute();
      await new Receipts(inside).confirm(keyOf(row), contentsOf(row));
      if (await new Outbox(inside).#settle(row.id, 'delivered', ['owed', 'superseded', 'dead'], { untaken: true })) {
        await new Runs(inside).settle(row.run, { state: 'delivered' });
      }
    });
  }

  /** The instance already has these bytes: settles the payload without a request. */
  async unchanged(row: OutboxRow): Promise<boolean> {
    return inTransaction(this.context, async (inside) => {
      const settled = await new Outbox(inside).#settle(row.id, 'delivered', ['owed']);
      if (!settled) return false;
      await new Receipts(inside).renew(keyOf(row), row.as_of);
      await new Runs(inside).settle(row.run, { state: 'unchanged' });
      return true;
    });
  }

  /**
   * The attempt failed and the payload stays owed. It may be tried again after `waitMs` or, if that's undefined, as
   * soon as the cause is gone. `free`: the attempt doesn't count. `blamed`: the service accepts other payloads, so the
   * failure counts against this one. `untaken`: the request was certainly not processed and never will be.
   */
  async postpone(
    id: number,
    trouble: FailureReason & { waitMs?: number; free: boolean; blamed?: boolean; untaken?: boolean },
  ): Promise<void> {
    const now = Math.round(this.context.clock.now());
    const unanswered = this.context.db
      .updateTable('outbox')
      .set({ unanswered_at: givenUpAt(now) })
      .where('id', '=', id);
    if (trouble.untaken !== true) await unanswered.execute();
    await this.context.db
      .updateTable('outbox')
      .set((column) => ({
        attempts: trouble.free ? oneLess(column) : column.ref('attempts'),
        faults: column('faults', '+', trouble.blamed === true ? 1 : 0),
        last_attempt_at: now,
        next_attempt_at: trouble.waitMs === undefined ? null : now + Math.ceil(trouble.waitMs),
        code: trouble.code,
        message: redact(trouble.message),
      }))
      .where('id', '=', id)
      .where('state', '=', 'owed')
      .execute();
  }

  /** Records why a payload isn't being sent, without counting an attempt. True if the reason is new. */
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
   * Marks the payload dead: no more automatic attempts. False if it's no longer owed. `untaken`: see {@link postpone}.
   */
  async markDead(id: number, trouble: FailureReason & { untaken?: boolean }): Promise<boolean> {
    return inTransaction(this.context, async (inside) => {
      const outbox = new Outbox(inside);
      if (!(await outbox.#settle(id, 'dead', ['owed'], trouble))) return false;
      const row = await outbox.find(id);
      if (row === undefined) return true;
      await new Runs(inside).settle(row.run, { state: 'dead', problem: trouble });
      await rewindCheckpoint(inside, row.run);
      return true;
    });
  }

  /**
   * The destination moved, so the payload is owed at its new URL. The newest data wins. Undefined if the row no longer
   * exists.
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

  /** Enqueues a dead payload again and counts its attempts from the start. False if newer data has made it obsolete. */
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

  /** The run's payload, if it produced one. */
  async ofRun(run: string): Promise<OutboxRow | undefined> {
    return this.context.db.selectFrom('outbox').selectAll().where('run', '=', run).executeTakeFirst();
  }

  /** Oldest first. */
  async inState(...states: readonly OutboxState[]): Promise<OutboxRow[]> {
    const found = states.map((state) => ofState(this.context.db, { state }));
    return oldestFirst((await Promise.all(found)).flat());
  }

  /** Marks the payload as replaced by something newer. Its guard findings and service errors stay in the history. */
  async supersede(row: OutboxRow): Promise<void> {
    if (!(await this.#settle(row.id, 'superseded', ['owed', 'quarantined', 'dead']))) return;
    if (row.state === 'owed') await new Runs(this.context).settle(row.run, { state: 'superseded' });
  }

  /** `untaken`: the last attempt got a response. */
  async #settle(
    id: number,
    state: OutboxState,
    from: readonly OutboxState[],
    { code, message, untaken = false }: Partial<FailureReason> & { untaken?: boolean } = {},
  ): Promise<boolean> {
    const row = await this.context.db
      .updateTable('outbox')
      .set((column) => ({
        state,
        settled_at: Math.round(this.context.clock.now()),
        next_attempt_at: null,
        ...(untaken ? {} : { unanswered_at: unansweredIn(column) }),
        code: code ?? null,
        message: message === undefined ? null : redact(message),
      }))
      .where('id', '=', id)
      .where('state', 'in', from)
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }
}

const contentsOf = ({ sha256, bytes, format, as_of }: OutboxRow) => ({ sha256, bytes, format, asOf: as_of });

const byId = prepared((db, value: BoundValue<{ id: number }>) =>
  db.selectFrom('outbox').selectAll().where('id', '=', value('id')),
);

const ofState = prepared((db, value: BoundValue<{ state: OutboxState }>) =>
  db.selectFrom('outbox').selectAll().where('state', '=', value('state')),
);
