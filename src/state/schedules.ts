import type { Ground } from './part.ts';
import { prepared, type Value } from './prepared.ts';
import type { ScheduleRow } from './tables.ts';

/** When each job is due next, written down so that a restart knows what it missed. */
export class Schedules {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** `next_at` in epoch milliseconds. */
  async set(schedule: ScheduleRow): Promise<void> {
    await write(this.#ground.db, schedule);
  }

  async find(job: string): Promise<ScheduleRow | undefined> {
    return this.#ground.db.selectFrom('schedules').selectAll().where('job', '=', job).executeTakeFirst();
  }

  async all(): Promise<ScheduleRow[]> {
    return this.#ground.db.selectFrom('schedules').selectAll().orderBy('next_at').orderBy('job').execute();
  }

  async forget(job: string): Promise<void> {
    await this.#ground.db.deleteFrom('schedules').where('job', '=', job).execute();
  }
}

const write = prepared((db, value: Value<ScheduleRow>) => {
  const rest = { schedule: value('schedule'), next_at: value('next_at') };
  return db
    .insertInto('schedules')
    .values({ job: value('job'), ...rest })
    .onConflict((conflict) => conflict.column('job').doUpdateSet(rest));
});
