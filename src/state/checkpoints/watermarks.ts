import { inTransaction, inTransactionOn, Repository } from '../engine/context.ts';
import { jobLock } from '../engine/lock-keys.ts';
import { Leases } from '../processes/leases.ts';
import { Audit, type DecidedBy } from '../runs/audit.ts';
import { Settings } from '../settings.ts';
import type { WatermarkRow } from '../tables.ts';
import { actionLease, findInputConsumer, forgetInputConsumed } from './consumed-input.ts';
import { Generations } from './generations.ts';

/** How far a run has read. */
export interface StoredWatermark {
  readonly job: string;
  readonly run: string;
  /**
   * Fingerprint of the query, the output and the target. If the fingerprint changes, the watermark is no longer valid.
   */
  readonly reading: string;
  /** The watermark, in the connector's own format. */
  readonly text: string;
}

/** Stores each job's watermark. A watermark covers only data that was delivered or is owed. */
export class Watermarks extends Repository {
  /** Returns the watermark that the job's next run continues from, or undefined if that run will read everything. */
  async find(job: string, reading: string): Promise<string | undefined> {
    const row = await this.#row(job);
    return row?.reading === reading ? row.text : undefined;
  }

  /** Advances the watermark. Keeps the previous watermark, in case the run's payload is never delivered. */
  async set({ job, run, reading, text }: StoredWatermark): Promise<void> {
    await inTransactionOn(this.context, [jobLock(job)], async (inside) => {
      const known = await new Watermarks(inside).#row(job);
      const previous_text = known?.reading !== reading ? null : known.run === run ? known.previous_text : known.text;
      const values = { reading, text, previous_text, run, set_at: Math.round(inside.clock.now()) };
      await inside.db
        .insertInto('watermarks')
        .values({ job, ...values })
        .onConflict((conflict) => conflict.column('job').doUpdateSet(values))
        .execute();
    });
  }

  /**
   * Records that the source was checked again and has no changes. The watermark itself may have changed (such as to a
   * new ETag), but it still belongs to the same payload. Does nothing if the stored watermark is no longer the one that
   * the run continued from: if the payload has died in the meantime, its rows must be read again.
   */
  async renew({ job, reading, former, text }: Omit<StoredWatermark, 'run'> & { former: string }): Promise<void> {
    const { db, clock } = this.context;
    const change = { text, set_at: Math.round(clock.now()) };
    const row = db.updateTable('watermarks').set(change).where('job', '=', job).where('reading', '=', reading);
    await row.where('text', '=', former).execute();
  }

  /**
   * Replaces the watermark's text, unless it has changed in the meantime. Call this if something was done in the source
   * that the watermark had recorded as left to do.
   */
  async replace({ job, former, text }: { job: string; former: string; text: string }): Promise<void> {
    const { db } = this.context;
    await db.updateTable('watermarks').set({ text }).where('job', '=', job).where('text', '=', former).execute();
  }

  /**
   * Restores the watermark from before a run, so that the same data is read again. Call this if the run's payload won't
   * be delivered. Does nothing if a later run has continued from the run's watermark.
   */
  async takeBack(run: string): Promise<void> {
    const { db } = this.context;
    const row = await db.selectFrom('watermarks').selectAll().where('run', '=', run).executeTakeFirst();
    if (row === undefined) return;
    if (row.previous_text === null) return this.forget(row.job);
    await db.updateTable('watermarks').set({ text: row.previous_text }).where('job', '=', row.job).execute();
  }

  /** Deletes the job's watermark, so that the job's next run reads everything. */
  async forget(job: string): Promise<void> {
    await this.context.db.deleteFrom('watermarks').where('job', '=', job).execute();
  }

  /** Returns the watermarks of all jobs, or of one job. */
  async all(job?: string): Promise<WatermarkRow[]> {
    const query = this.context.db.selectFrom('watermarks').selectAll().orderBy('job');
    return (job === undefined ? query : query.where('job', '=', job)).execute();
  }

  /**
   * Sets where the job's next run continues, because a user decided so. If `meant` is given, it derives the new
   * watermark from the current one. If `meant` is absent, the job starts from the beginning, and its kept rows are
   * deleted. The decision is written to the audit log in the same transaction. Returns `busy` if a run holds the job's
   * lease or files are being moved or deleted, and `unknown` if there is nothing to change. If `meant` throws, nothing
   * changes.
   */
  decide(
    job: string,
    meant: ((former: string) => string) | undefined,
    by: DecidedBy,
  ): Promise<'done' | 'busy' | 'unknown'> {
    return inTransaction(this.context, async (inside) => {
      const leases = new Leases(inside);
      for (const name of [jobLock(job), actionLease(job)]) if ((await leases.holder(name)) !== undefined) return 'busy';
      const watermarks = new Watermarks(inside);
      const sets = new Generations(inside);
      const settings = new Settings(inside);
      const known = await watermarks.#row(job);
      const isEmpty = async () =>
        (await sets.all(job)).length === 0 && (await findInputConsumer(settings, job)) === undefined;
      if (known === undefined && (meant !== undefined || (await isEmpty()))) return 'unknown';
      const text = known && meant?.(known.text);
      if (text === undefined) {
        await watermarks.forget(job);
        await sets.forget(job);
        await sets.prune(job);
        await forgetInputConsumed(settings, job);
      }
      if (text !== undefined)
        await inside.db.updateTable('watermarks').set({ text, previous_text: null }).where('job', '=', job).execute();
      const change = { former: known?.text ?? null, latter: text ?? null };
      await new Audit(inside).write({ by, action: text === undefined ? 'clear' : 'set', job, ...change });
      return 'done';
    });
  }

  #row(job: string): Promise<WatermarkRow | undefined> {
    return this.context.db.selectFrom('watermarks').selectAll().where('job', '=', job).executeTakeFirst();
  }
}
