import type { ExpressionBuilder } from 'kysely';
import { tickOf } from '../../lib/clock.ts';
import { chunksOf } from '../engine/chunks.ts';
import { inTransaction, joinTransaction, Repository, type StoreContext } from '../engine/context.ts';
import { ProcessHeartbeats } from '../processes/heartbeats.ts';
import type { RetryRow } from '../tables.ts';
import { failWaiting } from './end-retries.ts';
import { withPastAttempt } from './past-attempts.ts';
import { failureColumns, type RunFailure } from './run-failure.ts';

/**
 * Stores which runs have failed with a transient error and will be retried. A run has a row from the end of its first
 * attempt to the end of its last attempt. Whichever way the run ends, `end-retries.ts` deletes the row.
 */
export class Retries extends Repository {
  async find(job: string): Promise<RetryRow | undefined> {
    return this.context.db.selectFrom('retries').selectAll().where('job', '=', job).executeTakeFirst();
  }

  /** Earliest first. */
  async all(): Promise<RetryRow[]> {
    return this.context.db.selectFrom('retries').selectAll().orderBy('next_at').orderBy('job').execute();
  }

  /**
   * Ends an attempt that will be followed by another attempt. Without `row`, the next attempt is scheduled only in this
   * process's memory.
   *
   * @returns false, without writing anything, if the run has ended or was charged for a request
   */
  plan(run: string, why: RunFailure, row?: RetryRow): Promise<boolean> {
    return inTransaction(this.context, async (inside) => {
      const { db, clock } = inside;
      const found = await db
        .selectFrom('runs')
        .select(['started_at', 'past_attempts'])
        .where('id', '=', run)
        .where('state', '=', 'running')
        .where('requests', '=', 0)
        .executeTakeFirst();
      if (found === undefined) return false;
      const { code, message, next } = failureColumns(why);
      const { started_at } = found;
      const past_attempts = withPastAttempt(found, { started_at, ended_at: Math.round(clock.now()), code, message });
      const failed = { code, message, next, past_attempts };
      await db
        .updateTable('runs')
        .set({ state: 'retrying', ended_at: null, took_ms: null, ...failed })
        .where('id', '=', run)
        .execute();
      if (row !== undefined) await replaceRow(inside, row);
      return true;
    });
  }

  /**
   * Updates rows, such as to wait longer, to make an attempt due earlier, or to clear attempt facts. Doesn't insert
   * rows that have been deleted. A source can move the attempts of all jobs at once, so rows share statements. A job
   * mustn't be listed twice.
   */
  async move(rows: readonly RetryRow[]): Promise<void> {
    await inTransaction(this.context, async ({ db }) => {
      const waiting = await db.selectFrom('retries').select('run').execute();
      const runs = new Set(waiting.map(({ run }) => run));
      for (const some of chunksOf(rows.filter(({ run }) => runs.has(run)))) {
        await db
          .insertInto('retries')
          .values([...some])
          .onConflict((conflict) => conflict.column('job').doUpdateSet(moved))
          .execute();
      }
    });
  }

  /**
   * Begins a run's next attempt. The run becomes the job's newest run, and its data counts as read at the current time.
   *
   * @returns false if the run is no longer retried, because a newer result, a rollback or a hold has ended it
   */
  begin(run: string): Promise<boolean> {
    return joinTransaction(this.context, async ({ db, clock, processes, taken }) => {
      const waiting = await db
        .deleteFrom('runs')
        .where('id', '=', run)
        .where('state', '=', 'retrying')
        .returningAll()
        .executeTakeFirst();
      if (waiting === undefined) return false;
      // Insert the row again, so that the database gives it the next sequence number.
      const { sequence: _, ...row } = waiting;
      const begun = { started_at: Math.round(clock.now()), started_tick: Math.round(tickOf(clock)) };
      const attempt = { state: 'running' as const, owner: processes.self, attempts: row.attempts + 1 };
      await db
        .insertInto('runs')
        .values({ ...row, ...begun, ...attempt })
        .execute();
      taken?.set(run, ({ db: outside }) => notBegun(outside, run));
      return true;
    });
  }

  /**
   * Records that an attempt was stopped and doesn't count. The run is due at the next start, with the attempt facts in
   * `facts`.
   *
   * @returns false if the run has no row in this table
   */
  stopped(run: string, facts: string | null): Promise<boolean> {
    return inTransaction(this.context, async ({ db }) => {
      const row = await db
        .updateTable('retries')
        .set({ facts })
        .where('run', '=', run)
        .returning('run')
        .executeTakeFirst();
      if (row === undefined) return false;
      await notBegun(db, run);
      return true;
    });
  }

  /**
   * Ends a job's retries. The waiting run fails with the error of its last attempt. Returns the deleted row, or
   * undefined if there was none.
   */
  drop(job: string): Promise<RetryRow | undefined> {
    return inTransaction(this.context, async (inside) => {
      const row = await inside.db.deleteFrom('retries').where('job', '=', job).returningAll().executeTakeFirst();
      if (row !== undefined) await new Retries(inside).giveUp(row.run);
      return row;
    });
  }

  /** Ends the runs whose next attempt was scheduled only in the memory of a process that has died. These runs fail. */
  async giveUpOrphans(): Promise<void> {
    await inTransaction(this.context, async (inside) => {
      const unwritten = inside.db
        .selectFrom('runs')
        .select(['id', 'owner'])
        .where('state', '=', 'retrying')
        .where('id', 'not in', ({ selectFrom }) => selectFrom('retries').select('retries.run'));
      const rows = await unwritten.execute();
      const dead = await new ProcessHeartbeats(inside).dead(rows.map(({ owner }) => owner));
      for (const { id, owner } of rows) if (dead.has(owner)) await failWaiting(inside, id);
    });
  }

  /** Ends a run that is waiting for its next attempt. The run fails with the error of its last attempt. */
  async giveUp(run: string): Promise<void> {
    await failWaiting(this.context, run);
  }
}

/** Sets the columns that a move changes to the values of the row that would have been inserted. */
function moved({ ref }: ExpressionBuilder<{ excluded: RetryRow }, 'excluded'>) {
  return {
    next_at: ref('excluded.next_at'),
    waits: ref('excluded.waits'),
    until: ref('excluded.until'),
    facts: ref('excluded.facts'),
  };
}

/** Undoes the beginning of a run's current attempt, so that it can begin again. */
async function notBegun(db: StoreContext['db'], run: string): Promise<void> {
  await db
    .updateTable('runs')
    .set((eb) => ({ state: 'retrying', attempts: eb('attempts', '-', 1) }))
    .where('id', '=', run)
    .where('state', '=', 'running')
    .execute();
}

/**
 * Inserts a run's row. Only one run per job is retried, so another waiting run of the job fails. Without a row, it
 * would wait forever.
 */
async function replaceRow(context: StoreContext, { job, ...rest }: RetryRow): Promise<void> {
  const { db } = context;
  const other = await db.selectFrom('retries').select('run').where('job', '=', job).executeTakeFirst();
  if (other !== undefined && other.run !== rest.run) await failWaiting(context, other.run);
  await db
    .insertInto('retries')
    .values({ job, ...rest })
    .onConflict((conflict) => conflict.column('job').doUpdateSet(rest))
    .execute();
}
