import { inTransaction, Repository } from '../engine/context.ts';
import { Leases } from '../processes/leases.ts';
import { Audit, type DecidedBy } from '../runs/audit.ts';
import type { WatermarkRow } from '../tables.ts';
import { Generations } from './generations.ts';

/** How far a run has read. */
export interface StoredWatermark {
  readonly job: string;
  readonly run: string;
  /** Fingerprint of query, output and target. If it changes, the watermark is invalid. */
  readonly reading: string;
  /** The watermark, in the connector's own format. */
  readonly text: string;
}

/** Each job's watermark. It covers only data that was delivered or is owed. */
export class Watermarks extends Repository {
  /** The watermark that the job's next run continues from; undefined if that run reads everything. */
  async find(job: string, reading: string): Promise<string | undefined> {
    const row = await this.#row(job);
    return row?.reading === reading ? row.text : undefined;
  }

  /** Advances the watermark. The previous one is kept in case the run's payload is never delivered. */
  async set({ job, run, reading, text }: StoredWatermark): Promise<void> {
    await inTransaction(this.context, async (inside) => {
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
   * Records that the source was checked again and has no changes. The watermark may differ (a new ETag, for example),
   * but it still belongs to the same payload.
   */
  async renew({ job, reading, text }: Omit<StoredWatermark, 'run'>): Promise<void> {
    const { db, clock } = this.context;
    const change = { text, set_at: Math.round(clock.now()) };
    await db.updateTable('watermarks').set(change).where('job', '=', job).where('reading', '=', reading).execute();
  }

  /**
   * Undoes a run's watermark because its payload won't be delivered, so that the same data is read again. Does nothing
   * if a later run has continued from it.
   */
  async takeBack(run: string): Promise<void> {
    const { db } = this.context;
    const row = await db.selectFrom('watermarks').selectAll().where('run', '=', run).executeTakeFirst();
    if (row === undefined) return;
    if (row.previous_text === null) return this.forget(row.job);
    await db.updateTable('watermarks').set({ text: row.previous_text }).where('job', '=', row.job).execute();
  }

  /** Deletes the watermark, so the job's next run reads everything. */
  async forget(job: string): Promise<void> {
    await this.context.db.deleteFrom('watermarks').where('job', '=', job).execute();
  }

  /** The watermarks of all jobs, or of one. */
  async all(job?: string): Promise<WatermarkRow[]> {
    const query = this.context.db.selectFrom('watermarks').selectAll().orderBy('job');
    return (job === undefined ? query : query.where('job', '=', job)).execute();
  }

  /**
   * Sets where the job's next run continues, as a user decided: from the value that `meant` derives from the current
   * watermark, or from the start if `meant` is absent (the kept rows are then deleted too). The decision is audited in
   * the same transaction. Returns `busy` while a run holds the job's lease, `unknown` if there is nothing to change. If
   * `meant` throws, nothing changes.
   */
  decide(
    job: string,
    meant: ((former: string) => string) | undefined,
    by: DecidedBy,
  ): Promise<'done' | 'busy' | 'unknown'> {
    return inTransaction(this.context, async (inside) => {
      if ((await new Leases(inside).holder(`job:${job}`)) !== undefined) return 'busy';
      const watermarks = new Watermarks(inside);
      const sets = new Generations(inside);
      const known = await watermarks.#row(job);
      if (known === undefined && (meant !== undefined || (await sets.all(job)).length === 0)) return 'unknown';
      const text = known && meant?.(known.text);
      if (text === undefined) {
        await watermarks.forget(job);
        await sets.forget(job);
        await sets.prune(job);
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
