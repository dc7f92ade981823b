import { inTransaction, Repository } from '../engine/context.ts';
import type { SkipRow } from '../tables.ts';

/**
 * Maximum number of rows. Beyond it, the oldest rows are deleted, so that a job that is skipped every minute doesn't
 * fill the disk.
 */
const maxKept = 5000;

/** Firings of a job that were skipped. Times are the planned times, in epoch milliseconds. */
export interface Skipped {
  readonly job: string;
  /** One sentence for people. */
  readonly reason: string;
  readonly first: number;
  readonly last: number;
  readonly firings: number;
}

/** Stores the firings that were skipped. They have no run, so they aren't in the history that `runs` keeps. */
export class Skips extends Repository {
  /**
   * Records skipped firings. Consecutive firings with the same reason share one row if the job hasn't run in between.
   */
  async note(skipped: Skipped): Promise<void> {
    await inTransaction(this.context, async (inside) => {
      const last = await new Skips(inside).#last(skipped.job);
      if (last?.reason === skipped.reason && !(await new Skips(inside).#ranSince(last))) {
        await new Skips(inside).#extend(last, skipped);
      } else await new Skips(inside).#add(skipped);
    });
  }

  /** Newest first. */
  async history(filter: { job?: string; limit: number }): Promise<SkipRow[]> {
    let query = this.context.db.selectFrom('skips').selectAll().orderBy('sequence', 'desc').limit(filter.limit);
    if (filter.job !== undefined) query = query.where('job', '=', filter.job);
    return query.execute();
  }

  async #last(job: string): Promise<SkipRow | undefined> {
    return (await this.history({ job, limit: 1 }))[0];
  }

  async #ranSince({ job, noted_at }: SkipRow): Promise<boolean> {
    const run = this.context.db.selectFrom('runs').select('id').where('job', '=', job);
    return (await run.where('started_at', '>', noted_at).limit(1).executeTakeFirst()) !== undefined;
  }

  async #extend({ sequence, firings }: SkipRow, { last, ...more }: Skipped): Promise<void> {
    const noted_at = Math.round(this.context.clock.now());
    await this.context.db
      .updateTable('skips')
      .set({ last_at: last, firings: firings + more.firings, noted_at })
      .where('sequence', '=', sequence)
      .execute();
  }

  async #add({ first, last, ...skipped }: Skipped): Promise<void> {
    const noted_at = Math.round(this.context.clock.now());
    const { sequence } = await this.context.db
      .insertInto('skips')
      .values({ ...skipped, first_at: first, last_at: last, noted_at })
      .returning('sequence')
      .executeTakeFirstOrThrow();
    await this.context.db
      .deleteFrom('skips')
      .where('sequence', '<=', sequence - maxKept)
      .execute();
  }
}
