import { chunksOf } from '../engine/chunks.ts';
import { inTransaction, Repository } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import type { ScheduleRow } from '../tables.ts';

/** A change of the time of a job's next firing. Times are in epoch milliseconds. */
export interface Move {
  readonly job: string;
  readonly from: number;
  readonly to: number;
}

/** What a config changes. */
export interface ScheduleChanges {
  readonly put: readonly ScheduleRow[];
  readonly forget: readonly string[];
}

/** Stores when each job is due next, so that the daemon knows after a restart which firings it has missed. */
export class Schedules extends Repository {
  /** Sets when the job is due next. `next_at` is in epoch milliseconds. */
  async set(schedule: ScheduleRow): Promise<void> {
    await write(this.context.db, schedule);
  }

  /** Sets when many jobs are due next, and forgets others, in few statements. A job mustn't be listed twice. */
  async change({ put, forget }: ScheduleChanges): Promise<void> {
    const { db } = this.context;
    for (const rows of chunksOf(put)) {
      await db
        .insertInto('schedules')
        .values([...rows])
        .onConflict((conflict) =>
          conflict
            .column('job')
            .doUpdateSet(({ ref }) => ({ schedule: ref('excluded.schedule'), next_at: ref('excluded.next_at') })),
        )
        .execute();
    }
    for (const jobs of chunksOf(forget))
      await db
        .deleteFrom('schedules')
        .where('job', 'in', [...jobs])
        .execute();
  }

  async find(job: string): Promise<ScheduleRow | undefined> {
    return this.context.db.selectFrom('schedules').selectAll().where('job', '=', job).executeTakeFirst();
  }

  async all(): Promise<ScheduleRow[]> {
    return this.context.db.selectFrom('schedules').selectAll().orderBy('next_at').orderBy('job').execute();
  }

  /** Moves the next firings of jobs, each only if it's still planned for `from` (compare-and-set), in few statements. */
  move(moves: readonly Move[]): Promise<void> {
    return inTransaction(this.context, async (inside) => {
      const schedules = new Schedules(inside);
      const planned = new Map((await schedules.all()).map((row) => [row.job, row]));
      const put = moves.flatMap(({ job, from, to }) => {
        const row = planned.get(job);
        return row?.next_at === from ? [{ ...row, next_at: to }] : [];
      });
      await schedules.change({ put, forget: [] });
    });
  }

  async forget(job: string): Promise<void> {
    await this.context.db.deleteFrom('schedules').where('job', '=', job).execute();
  }
}

const write = prepared((db, value: BoundValue<ScheduleRow>) => {
  const rest = { schedule: value('schedule'), next_at: value('next_at') };
  return db
    .insertInto('schedules')
    .values({ job: value('job'), ...rest })
    .onConflict((conflict) => conflict.column('job').doUpdateSet(rest));
});
