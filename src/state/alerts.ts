import type { ExpressionBuilder } from 'kysely';
import { chunksOf } from './engine/chunks.ts';
import { inTransaction, Repository, type StoreContext } from './engine/context.ts';
import { Settings } from './settings.ts';
import type { AlertGroupRow, AlertMessageRow, AlertRow } from './tables.ts';

/** A message owed to one channel. */
export interface NewAlertMessage {
  readonly id: string;
  readonly channel: string;
  readonly title: string;
  /** JSON, already redacted. */
  readonly body: string;
}

/** The state changes from one round of the alerting loop. */
export interface AlertChanges {
  readonly put: readonly AlertRow[];
  readonly drop: readonly Pick<AlertRow, 'subject' | 'occasion'>[];
  readonly groups: readonly AlertGroupRow[];
  readonly dropGroups: readonly string[];
  readonly tell: readonly NewAlertMessage[];
}

export interface ChannelRecord {
  readonly channel: string;
  readonly waiting: number;
  readonly given_up: number;
  readonly sent_at?: number;
  /**
   * The channel's latest error: the error of the oldest waiting message, of the last message if it was dropped, or of
   * the last heartbeat.
   */
  readonly problem?: string;
}

/** Maximum number of messages that wait for a broken channel. Each further message drops the oldest waiting one. */
const maxWaiting = 200;
/** Maximum number of settled messages that are kept as history. */
const keptMessages = 500;

/** The columns of an alert that change. */
const changing = [
  ...(['group_key', 'cause', 'level', 'reported_level', 'since', 'opened_at', 'changed_at'] as const),
  ...(['cleared_at', 'seen_at', 'what', 'code'] as const),
] satisfies (keyof AlertRow)[];

/** Sets each column to the value of the row that would have been inserted. */
function newValues({ ref }: ExpressionBuilder<{ excluded: AlertRow }, 'excluded'>) {
  return Object.fromEntries(changing.map((name) => [name, ref(`excluded.${name}`)]));
}

/** Stores the open alerts, what was already reported about them, and the messages that are owed to channels. */
export class AlertRecords extends Repository {
  async all(): Promise<AlertRow[]> {
    return this.context.db.selectFrom('alerts').selectAll().orderBy('opened_at').orderBy('subject').execute();
  }

  async groups(): Promise<AlertGroupRow[]> {
    return this.context.db.selectFrom('alert_groups').selectAll().execute();
  }

  /**
   * Applies the changes and enqueues their messages, all in one transaction. A cause can change the alerts of all jobs at
   * once, so rows share statements: the transaction locks the whole state.
   */
  change({ put, drop, groups, dropGroups, tell }: AlertChanges): Promise<void> {
    return inTransaction(this.context, async ({ db, ...rest }) => {
      for (const rows of chunksOf(put)) {
        await db
          .insertInto('alerts')
          .values([...rows])
          .onConflict((conflict) => conflict.columns(['subject', 'occasion']).doUpdateSet(newValues))
          .execute();
      }
      for (const [occasion, rows] of Map.groupBy(drop, (row) => row.occasion)) {
        for (const chunk of chunksOf(rows)) {
          const subjects = chunk.map(({ subject }) => subject);
          await db.deleteFrom('alerts').where('occasion', '=', occasion).where('subject', 'in', subjects).execute();
        }
      }
      for (const group of groups) {
        await db
          .insertInto('alert_groups')
          .values(group)
          .onConflict((conflict) => conflict.column('group_key').doUpdateSet(group))
          .execute();
      }
      for (const key of dropGroups) await db.deleteFrom('alert_groups').where('group_key', '=', key).execute();
      for (const telling of tell) await new AlertRecords({ db, ...rest }).tell(telling);
    });
  }

  /** Enqueues a message for a channel. The message is due immediately. */
  tell(telling: NewAlertMessage): Promise<void> {
    return inTransaction(this.context, async (inside) => {
      const now = Math.round(inside.clock.now());
      await inside.db
        .insertInto('alert_messages')
        .values({
          ...telling,
          state: 'waiting',
          made_at: now,
          attempts: 0,
          next_at: now,
          settled_at: null,
          problem: null,
        })
        .execute();
      await makeRoom(inside, telling.channel);
      await prune(inside);
    });
  }

  /** Returns the messages that are owed to channels, oldest first. */
  async waiting(): Promise<AlertMessageRow[]> {
    return this.context.db
      .selectFrom('alert_messages')
      .selectAll()
      .where('state', '=', 'waiting')
      .orderBy('sequence')
      .execute();
  }

  async sent(sequence: number): Promise<void> {
    await this.#settle(sequence, { state: 'sent', problem: null });
  }

  async giveUp(sequence: number, problem: string): Promise<void> {
    await this.#settle(sequence, { state: 'given_up', problem });
  }

  /** Records that sending a message failed. The next attempt is due at `nextAt`, in epoch milliseconds. */
  async postpone(sequence: number, { problem, nextAt }: { problem: string; nextAt: number }): Promise<void> {
    await this.context.db
      .updateTable('alert_messages')
      .set((column) => ({ attempts: column('attempts', '+', 1), problem, next_at: Math.round(nextAt) }))
      .where('sequence', '=', sequence)
      .where('state', '=', 'waiting')
      .execute();
  }

  /**
   * Makes all messages that wait for a channel due immediately, because the channel accepts messages again. Returns the
   * number of these messages.
   */
  async hurry(channel: string): Promise<number> {
    const { numUpdatedRows } = await this.context.db
      .updateTable('alert_messages')
      .set({ next_at: Math.round(this.context.clock.now()) })
      .where('channel', '=', channel)
      .where('state', '=', 'waiting')
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }

  /** Newest first. */
  async messages(limit: number): Promise<AlertMessageRow[]> {
    return this.context.db.selectFrom('alert_messages').selectAll().orderBy('sequence', 'desc').limit(limit).execute();
  }

  /** Records that a heartbeat was sent to a channel, or that sending it failed. */
  beaten(channel: string, { problem }: Pick<ChannelRecord, 'problem'>): Promise<void> {
    return inTransaction(this.context, async (inside) => {
      const settings = new Settings(inside);
      const last = problem === undefined ? { sent_at: Math.round(inside.clock.now()) } : await beatOf(inside, channel);
      await settings.set(`${beatName}${channel}`, JSON.stringify({ ...last, problem }));
    });
  }

  /** Returns the delivery records of the channels, which are based on the messages and heartbeats in the history. */
  async channels(): Promise<ChannelRecord[]> {
    return [...(await this.#spoken()), ...(await beats(this.context))];
  }

  async #spoken(): Promise<ChannelRecord[]> {
    const rows = await this.context.db.selectFrom('alert_messages').selectAll().orderBy('sequence').execute();
    return [...Map.groupBy(rows, ({ channel }) => channel)].map(([channel, own]) => {
      const waiting = own.filter(({ state }) => state === 'waiting');
      const sent = own.findLast(({ state }) => state === 'sent')?.settled_at;
      const problem = waiting[0]?.problem ?? lastProblem(own);
      return {
        channel,
        waiting: waiting.length,
        given_up: own.filter(({ state }) => state === 'given_up').length,
        ...(sent === undefined || sent === null ? {} : { sent_at: sent }),
        problem,
      };
    });
  }

  /** Returns when each job was first watched, in epoch milliseconds. */
  async watched(): Promise<Map<string, number>> {
    const rows = await this.context.db.selectFrom('alert_watches').selectAll().execute();
    return new Map(rows.map(({ job, since }) => [job, since]));
  }

  /**
   * Returns when each job was first watched, in epoch milliseconds. For those of `jobs` that weren't watched before,
   * records the current time.
   */
  async watch(jobs: readonly string[]): Promise<Map<string, number>> {
    const known = await this.watched();
    const fresh = jobs.filter((job) => !known.has(job));
    if (fresh.length === 0) return known;
    const since = Math.round(this.context.clock.now());
    await inTransaction(this.context, async ({ db }) => {
      for (const jobs of chunksOf(fresh)) {
        const values = jobs.map((job) => ({ job, since }));
        await db
          .insertInto('alert_watches')
          .values(values)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }
    });
    for (const job of fresh) known.set(job, since);
    return known;
  }

  async #settle(sequence: number, end: Pick<AlertMessageRow, 'state' | 'problem'>): Promise<void> {
    await this.context.db
      .updateTable('alert_messages')
      .set((column) => ({
        ...end,
        attempts: column('attempts', '+', 1),
        settled_at: Math.round(this.context.clock.now()),
      }))
      .where('sequence', '=', sequence)
      .where('state', '=', 'waiting')
      .execute();
  }
}

const beatName = 'heartbeat.';
type Beat = Pick<ChannelRecord, 'sent_at' | 'problem'>;

async function beatOf(context: StoreContext, channel: string): Promise<Beat> {
  const kept = await new Settings(context).find(`${beatName}${channel}`);
  return kept === undefined ? {} : (JSON.parse(kept) as Beat);
}

async function beats(context: StoreContext): Promise<ChannelRecord[]> {
  const rows = await new Settings(context).below(beatName);
  return rows.map(({ name, value }) => ({
    channel: name.slice(beatName.length),
    waiting: 0,
    given_up: 0,
    ...(JSON.parse(value) as Beat),
  }));
}

/**
 * Returns the error of the last settled message if the message was dropped after all attempts. The channel then counts
 * as broken.
 */
function lastProblem(rows: readonly AlertMessageRow[]): string | undefined {
  const last = rows.findLast(({ state }) => state !== 'waiting');
  return last?.state === 'given_up' ? (last.problem ?? undefined) : undefined;
}

async function makeRoom({ db, clock }: StoreContext, channel: string): Promise<void> {
  const newest = await db
    .selectFrom('alert_messages')
    .select('sequence')
    .where('state', '=', 'waiting')
    .where('channel', '=', channel)
    .orderBy('sequence', 'desc')
    .offset(maxWaiting)
    .limit(1)
    .executeTakeFirst();
  if (newest === undefined) return;
  await db
    .updateTable('alert_messages')
    .set({
      state: 'given_up',
      settled_at: Math.round(clock.now()),
      problem: `more than ${maxWaiting} messages were waiting`,
    })
    .where('state', '=', 'waiting')
    .where('channel', '=', channel)
    .where('sequence', '<=', newest.sequence)
    .execute();
}

async function prune({ db }: StoreContext): Promise<void> {
  const oldest = await db
    .selectFrom('alert_messages')
    .select('sequence')
    .where('state', '<>', 'waiting')
    .orderBy('sequence', 'desc')
    .offset(keptMessages)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await db
    .deleteFrom('alert_messages')
    .where('state', '<>', 'waiting')
    .where('sequence', '<=', oldest.sequence)
    .execute();
}
