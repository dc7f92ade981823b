import { chunksOf } from '../engine/chunks.ts';
import { inTransaction, Repository, type StoreContext } from '../engine/context.ts';
import type { ThrottledJobRow } from '../tables.ts';

export type ThrottledJob = Pick<ThrottledJobRow, 'job' | 'every' | 'message' | 'until'>;

/** Maximum number of past throttles that are kept as history. */
const maxKept = 5_000;

/** Stores which jobs are throttled and which jobs were throttled in the past. */
export class ThrottledJobs extends Repository {
  /**
   * Replaces the current throttles. If the job, frequency and end time of a throttle haven't changed, the existing
   * throttle continues.
   */
  replace(stretches: readonly ThrottledJob[]): Promise<void> {
    return inTransaction(this.context, async (inside) => {
      const now = Math.round(inside.clock.now());
      const holding = await new ThrottledJobs(inside).now();
      const words = ({ job, every, until }: ThrottledJob): string => JSON.stringify([job, every, until]);
      const wanted = new Set(stretches.map(words));
      const kept = new Set(holding.map(words).filter((one) => wanted.has(one)));
      const over = holding.filter((one) => !kept.has(words(one))).map(({ sequence }) => sequence);
      for (const some of chunksOf(over)) {
        await inside.db.updateTable('throttled_jobs').set({ ended_at: now }).where('sequence', 'in', some).execute();
      }
      const fresh = stretches.filter((one) => !kept.has(words(one)));
      for (const some of chunksOf(fresh)) {
        const rows = some.map(({ job, every, message, until }) => ({
          job,
          every,
          message,
          until,
          since: now,
          ended_at: null,
        }));
        await inside.db.insertInto('throttled_jobs').values(rows).execute();
      }
      if (fresh.length > 0) await prune(inside);
    });
  }

  /** The current throttles, by job. */
  async now(): Promise<ThrottledJobRow[]> {
    const now = Math.round(this.context.clock.now());
    return this.context.db
      .selectFrom('throttled_jobs')
      .selectAll()
      .where('ended_at', 'is', null)
      .where('until', '>', now)
      .orderBy('job')
      .execute();
  }

  /**
   * For each job that isn't throttled now, returns when its last throttle ended, in epoch milliseconds. Leaves out jobs
   * that have never been throttled.
   */
  async ends(): Promise<Map<string, number>> {
    const now = this.context.clock.now();
    const rows = await this.context.db
      .selectFrom('throttled_jobs')
      .select(['job', ({ fn }) => fn.max(fn.coalesce('ended_at', 'until')).as('at')])
      .groupBy('job')
      .execute();
    return new Map(rows.flatMap(({ job, at }) => (at !== null && at <= now ? [[job, at] as const] : [])));
  }

  /** Returns current and past throttles, newest first. */
  async history(filter: { job?: string; limit: number }): Promise<ThrottledJobRow[]> {
    let query = this.context.db
      .selectFrom('throttled_jobs')
      .selectAll()
      .orderBy('sequence', 'desc')
      .limit(filter.limit);
    if (filter.job !== undefined) query = query.where('job', '=', filter.job);
    return query.execute();
  }
}

async function prune({ db, clock }: StoreContext): Promise<void> {
  await db
    .deleteFrom('throttled_jobs')
    .where((where) => where.or([where('ended_at', 'is not', null), where('until', '<=', Math.round(clock.now()))]))
    .where('sequence', '<=', ({ selectFrom }) =>
      selectFrom('throttled_jobs').select(({ fn, eb }) => eb(fn.max('sequence'), '-', maxKept).as('oldest')),
    )
    .execute();
}
