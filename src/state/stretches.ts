import { atomically, type Ground } from './part.ts';
import type { StretchRow } from './tables.ts';

/** A job that runs less often for a while. */
export type Stretch = Pick<StretchRow, 'job' | 'every' | 'says' | 'until'>;

/** Former ones are kept for the history, but not for ever. */
const mostKept = 5_000;

/** Which jobs run less often than their schedules say, and did. */
export class Stretches {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** From now on these hold and no others. Ones that held before in the same words go on. */
  replace(stretches: readonly Stretch[]): Promise<void> {
    return atomically(this.#ground, async (inside) => {
      const now = Math.round(inside.clock.now());
      const holding = await new Stretches(inside).now();
      const words = ({ job, every, until }: Stretch): string => JSON.stringify([job, every, until]);
      const wanted = new Set(stretches.map(words));
      const kept = new Set(holding.map(words).filter((one) => wanted.has(one)));
      const over = holding.filter((one) => !kept.has(words(one))).map(({ sequence }) => sequence);
      for (const sequence of over) {
        await inside.db.updateTable('stretches').set({ ended_at: now }).where('sequence', '=', sequence).execute();
      }
      const fresh = stretches.filter((one) => !kept.has(words(one)));
      for (const { job, every, says, until } of fresh) {
        const row = { job, every, says, until, since: now, ended_at: null };
        await inside.db.insertInto('stretches').values(row).execute();
      }
      if (fresh.length > 0) await prune(inside);
    });
  }

  /** Those that hold now, by job. */
  async now(): Promise<StretchRow[]> {
    const now = this.#ground.clock.now();
    return this.#ground.db
      .selectFrom('stretches')
      .selectAll()
      .where('ended_at', 'is', null)
      .where('until', '>', now)
      .orderBy('job')
      .execute();
  }

  /** When jobs that run as asked now were stretched last (epoch ms), for those that ever were. */
  async ends(): Promise<Map<string, number>> {
    const now = this.#ground.clock.now();
    const rows = await this.#ground.db
      .selectFrom('stretches')
      .select(['job', ({ fn }) => fn.max(fn.coalesce('ended_at', 'until')).as('at')])
      .groupBy('job')
      .execute();
    return new Map(rows.flatMap(({ job, at }) => (at !== null && at <= now ? [[job, at] as const] : [])));
  }

  /** Newest first, what holds and what held. */
  async history(filter: { job?: string; limit: number }): Promise<StretchRow[]> {
    let query = this.#ground.db.selectFrom('stretches').selectAll().orderBy('sequence', 'desc').limit(filter.limit);
    if (filter.job !== undefined) query = query.where('job', '=', filter.job);
    return query.execute();
  }
}

async function prune({ db, clock }: Ground): Promise<void> {
  await db
    .deleteFrom('stretches')
    .where((where) => where.or([where('ended_at', 'is not', null), where('until', '<=', clock.now())]))
    .where('sequence', '<=', ({ selectFrom }) =>
      selectFrom('stretches').select(({ fn, eb }) => eb(fn.max('sequence'), '-', mostKept).as('oldest')),
    )
    .execute();
}
