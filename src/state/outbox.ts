import { redact } from '../lib/redact.ts';
import { assertWhole } from './assert-whole.ts';
import { begun, failuresIn, givenUpAt, giveUpOthers, oneLess, unansweredIn } from './attempts.ts';
import { oldestFirst, outstanding } from './outstanding.ts';
import { instanceOf, type Owing, record, standing, type Weighed } from './owing.ts';
import { atomically, type Ground } from './part.ts';
import { moveBack, moveOn, moveOnAgain } from './place.ts';
import { prepared, type Value } from './prepared.ts';
import { type InstanceKey, newest, Receipts } from './receipts.ts';
import { Runs } from './runs.ts';
import type { OutboxRow, OutboxState } from './tables.ts';

export type Owed =
  | { readonly state: 'owed'; readonly id: number; readonly superseded: readonly OutboxRow[] }
  /** Newer data is there or on its way. */
  | { readonly state: 'superseded'; readonly id: number; readonly superseded: readonly OutboxRow[] }
  /** The instance has these very bytes: nothing is owed. */
  | { readonly state: 'unchanged'; readonly superseded: readonly OutboxRow[] };

export interface Trouble {
  readonly code: string;
  readonly message: string;
}

/** A payload whose request is about to begin. */
export type Attempted = OutboxRow & {
  /** What the instance holds was known for sure before it. */
  readonly wasCertain: boolean;
};

/** The durable list of payloads that are owed (invariants 2 and 3). */
export class Outbox {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /**
   * Makes a payload owed, in one transaction with its run. It supersedes what was owed, quarantined or dead for the same instance;
   * it is superseded itself where newer data has been owed or tried already; it is not recorded where the instance is
   * known to hold the same bytes. The file has to be there.
   */
  owe(owing: Owing): Promise<Owed> {
    return atomically(this.#ground, async (inside) => {
      assertWhole(owing.payload);
      const { waiting, owed, isOld } = await standing(inside, owing);
      if (isOld) return { state: 'superseded', id: await record(inside, owing, 'superseded'), superseded: [] };
      const outbox = new Outbox(inside);
      for (const row of waiting) await outbox.supersede(row);
      await moveOn(inside, owing);
      if (await outbox.#isShown(owing)) {
        await outbox.#settleUnchanged(owing);
        return { state: 'unchanged', superseded: waiting };
      }
      const since = Math.min(...owed.map(({ waiting_since }) => waiting_since));
      return { state: 'owed', id: await record(inside, owing, 'owed', since), superseded: waiting };
    });
  }

  /**
   * Does what {@link owe} does with a payload that the instance is known to hold, without a file of it: true where it is so
   * and nothing else waits for the instance. Else nothing has happened.
   */
  async pass(owing: Weighed): Promise<boolean> {
    if (!(await this.#isShown(owing))) return false;
    return atomically(this.#ground, async (inside) => {
      const outbox = new Outbox(inside);
      const { waiting, isOld } = await standing(inside, owing);
      if (isOld || waiting.length > 0 || !(await outbox.#isShown(owing))) return false;
      await moveOn(inside, owing);
      await outbox.#settleUnchanged(owing);
      return true;
    });
  }

  async #isShown(owing: Weighed): Promise<boolean> {
    return !owing.always && (await new Receipts(this.#ground).holds(instanceOf(owing), owing.payload));
  }

  async #settleUnchanged({ payload, ...owing }: Weighed): Promise<void> {
    await new Receipts(this.#ground).renew(instanceOf(owing), payload.asOf);
    await new Runs(this.#ground).settle(owing.run, { state: 'unchanged', rows: payload.rows, bytes: payload.bytes });
  }

  /**
   * A request for the payload is about to begin: counts the attempt and puts the receipt in doubt, so that a crash in
   * the middle sends again. An attempt before it that had no end, because its process died under it, is a cut and not a
   * failure: the power is not the payload's fault. Undefined when the payload is not owed any more.
   */
  attempt(id: number): Promise<Attempted | undefined> {
    return atomically(this.#ground, async (inside) => {
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

  /** The service has said that it did not take it: the instance holds what it held before. */
  async refused({ wasCertain, ...row }: Attempted): Promise<void> {
    if (wasCertain) await new Receipts(this.#ground).trust(keyOf(row));
  }

  /** The service took it: receipt, payload and run in one transaction. True of one superseded on the way as well. */
  async delivered(row: OutboxRow): Promise<void> {
    await atomically(this.#ground, async (inside) => {
      // This attempt has been answered, those before it are what they were.
      const { unanswered_at } = row;
      await inside.db.updateTable('outbox').set({ unanswered_at }).where('id', '=', row.id).execute();
      await new Receipts(inside).confirm(keyOf(row), contentsOf(row));
      if (await new Outbox(inside).#settle(row.id, 'delivered', ['owed', 'superseded', 'dead'], { untaken: true })) {
        await new Runs(inside).settle(row.run, { state: 'delivered' });
      }
    });
  }

  /** The instance turned out to hold these bytes already: settled without a request. */
  async unchanged(row: OutboxRow): Promise<boolean> {
    return atomically(this.#ground, async (inside) => {
      const settled = await new Outbox(inside).#settle(row.id, 'delivered', ['owed']);
      if (!settled) return false;
      await new Receipts(inside).renew(keyOf(row), row.as_of);
      await new Runs(inside).settle(row.run, { state: 'unchanged' });
      return true;
    });
  }

  /**
   * The attempt failed and the payload stays owed. `waitMs` from now it may be tried again; undefined: whenever what stopped
   * it is over. `free`: the attempt does not count at all; `blamed`: the service takes other things, so it counts against
   * the payload; `untaken`: it is sure that it was not carried out, nor will be.
   */
  async postpone(
    id: number,
    trouble: Trouble & { waitMs?: number; free: boolean; blamed?: boolean; untaken?: boolean },
  ): Promise<void> {
    const now = Math.round(this.#ground.clock.now());
    const unanswered = this.#ground.db
      .updateTable('outbox')
      .set({ unanswered_at: givenUpAt(now) })
      .where('id', '=', id);
    if (trouble.untaken !== true) await unanswered.execute();
    await this.#ground.db
      .updateTable('outbox')
      .set((column) => ({
        attempts: trouble.free ? oneLess(column) : column.ref('attempts'),
        blames: column('blames', '+', trouble.blamed === true ? 1 : 0),
        last_attempt_at: now,
        next_attempt_at: trouble.waitMs === undefined ? null : now + Math.ceil(trouble.waitMs),
        code: trouble.code,
        message: redact(trouble.message),
      }))
      .where('id', '=', id)
      .where('state', '=', 'owed')
      .execute();
  }

  /** Why it is not being sent, without an attempt. True when that is news. */
  async note(id: number, trouble: Trouble): Promise<boolean> {
    const news = { code: trouble.code, message: redact(trouble.message) };
    const row = await this.#ground.db
      .updateTable('outbox')
      .set((column) => ({ ...news, attempts: failuresIn(column) }))
      .where('id', '=', id)
      .where('state', '=', 'owed')
      .where((where) => where.or([where('code', 'is', null), where('code', '<>', trouble.code)]))
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** It will not be tried again by itself. False when it was not owed any more. `untaken`: as {@link postpone} has it. */
  async bury(id: number, trouble: Trouble & { untaken?: boolean }): Promise<boolean> {
    return atomically(this.#ground, async (inside) => {
      const outbox = new Outbox(inside);
      if (!(await outbox.#settle(id, 'dead', ['owed'], trouble))) return false;
      const row = await outbox.find(id);
      if (row === undefined) return true;
      await new Runs(inside).settle(row.run, { state: 'dead', problem: trouble });
      await moveBack(inside, row.run);
      return true;
    });
  }

  /**
   * The destination has moved: from now on the payload is owed there. What is known to be newer at the new place wins,
   * what is older gives way. Returns the row as it is then; undefined when there is none.
   */
  readdress(id: number, url: string): Promise<OutboxRow | undefined> {
    return atomically(this.#ground, async (inside) => {
      const outbox = new Outbox(inside);
      const row = await outbox.find(id);
      if (row?.state !== 'owed') return row;
      const key = { ...keyOf(row), url };
      const waiting = await outstanding(inside, key);
      const tried = (await new Receipts(inside).find(key))?.tried_as_of;
      const owed = waiting.filter(({ state }) => state === 'owed').map(({ as_of }) => as_of);
      const isOld = newest(inside.clock.now(), [...owed, tried]) > row.as_of;
      for (const other of isOld ? [row] : waiting) await outbox.supersede(other);
      if (!isOld) await inside.db.updateTable('outbox').set({ url }).where('id', '=', id).execute();
      return outbox.find(id);
    });
  }

  /** A dead payload is owed once more, from its first attempt. False when newer data has made it pointless. */
  async revive(id: number): Promise<boolean> {
    return atomically(this.#ground, async (inside) => {
      const row = await new Outbox(inside).find(id);
      if (row?.state !== 'dead') return false;
      const receipt = await new Receipts(inside).find(keyOf(row));
      if (receipt?.certain === 1 && receipt.as_of > row.as_of) return false;
      const fresh = {
        state: 'owed' as const,
        attempts: 0,
        cuts: 0,
        blames: 0,
        next_attempt_at: null,
        settled_at: null,
      };
      await inside.db.updateTable('outbox').set(fresh).where('id', '=', id).execute();
      await new Runs(inside).owed(row.run, { rows: row.row_count, bytes: row.bytes });
      await moveOnAgain(inside, row);
      return true;
    });
  }

  async find(id: number): Promise<OutboxRow | undefined> {
    return (await byId(this.#ground.db, { id }))[0];
  }

  /** The payload that a run made, if it came so far. */
  async ofRun(run: string): Promise<OutboxRow | undefined> {
    return this.#ground.db
      .selectFrom('outbox')
      .selectAll()
      .where('run', '=', run)
      .orderBy('id', 'desc')
      .executeTakeFirst();
  }

  /** Oldest first. */
  async inState(...states: readonly OutboxState[]): Promise<OutboxRow[]> {
    const found = states.map((state) => ofState(this.#ground.db, { state }));
    return oldestFirst((await Promise.all(found)).flat());
  }

  /** Something else is what the instance is to show. What a guard or the service held against the run stays its history. */
  async supersede(row: OutboxRow): Promise<void> {
    if (!(await this.#settle(row.id, 'superseded', ['owed', 'quarantined', 'dead']))) return;
    if (row.state === 'owed') await new Runs(this.#ground).settle(row.run, { state: 'superseded' });
  }

  /** `untaken`: the last attempt has had an answer. */
  async #settle(
    id: number,
    state: OutboxState,
    from: readonly OutboxState[],
    { code, message, untaken = false }: Partial<Trouble> & { untaken?: boolean } = {},
  ): Promise<boolean> {
    const row = await this.#ground.db
      .updateTable('outbox')
      .set((column) => ({
        state,
        settled_at: Math.round(this.#ground.clock.now()),
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

/** Where a payload goes, as receipts and leases name it. */
export function keyOf(row: Pick<OutboxRow, 'url' | 'client_id' | 'instance'>): InstanceKey {
  return { url: row.url, instance: row.instance, ...(row.client_id === '' ? {} : { clientId: row.client_id }) };
}

const contentsOf = ({ sha256, bytes, format, as_of }: OutboxRow) => ({ sha256, bytes, format, asOf: as_of });

const byId = prepared((db, value: Value<{ id: number }>) =>
  db.selectFrom('outbox').selectAll().where('id', '=', value('id')),
);

const ofState = prepared((db, value: Value<{ state: OutboxState }>) =>
  db.selectFrom('outbox').selectAll().where('state', '=', value('state')),
);
