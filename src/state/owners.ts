import { atomically, type Ground } from './part.ts';
import { prepared, type Value } from './prepared.ts';

/** A process that cannot be looked at (another container or machine) is taken for dead after this silence. */
const silenceMs = 30_000;

/** The processes that hold something, each with its last heartbeat. */
export class Owners {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** Writes down that this process is alive now. */
  async beat(): Promise<void> {
    const { db, clock, processes } = this.#ground;
    const beat = { beat_wall: Math.round(clock.now()), beat_monotonic: clock.monotonic() };
    await write(db, { owner: processes.self, ...beat });
  }

  /**
   * Whether the process is gone. On one machine a look at the process table decides, at once and without clocks;
   * elsewhere the heartbeat does, on the monotonic clock within one boot, on the wall clock otherwise.
   */
  async isDead(owner: string): Promise<boolean> {
    const { db, processes } = this.#ground;
    const fate = processes.fate(owner);
    if (fate !== 'unknown') return fate === 'dead';
    const row = await db.selectFrom('owners').selectAll().where('owner', '=', owner).executeTakeFirst();
    return row === undefined || this.#silence(owner, row) > silenceMs;
  }

  /** When a process last wrote down that it is alive (epoch ms by its clock); undefined when it never did. */
  async lastBeat(owner: string): Promise<number | undefined> {
    const { db } = this.#ground;
    const row = await db.selectFrom('owners').select('beat_wall').where('owner', '=', owner).executeTakeFirst();
    return row?.beat_wall;
  }

  /** Forgets the dead, so that the table stays as small as the number of living processes. */
  async bury(): Promise<void> {
    await atomically(this.#ground, async (inside) => {
      const owners = new Owners(inside);
      for (const { owner } of await inside.db.selectFrom('owners').select('owner').execute()) {
        if (await owners.isDead(owner)) await inside.db.deleteFrom('owners').where('owner', '=', owner).execute();
      }
    });
  }

  #silence(owner: string, row: { beat_wall: number; beat_monotonic: number }): number {
    const { clock, processes } = this.#ground;
    return processes.sharesBoot(owner) ? clock.monotonic() - row.beat_monotonic : Math.abs(clock.now() - row.beat_wall);
  }
}

const write = prepared((db, value: Value<{ owner: string; beat_wall: number; beat_monotonic: number }>) => {
  const beat = { beat_wall: value('beat_wall'), beat_monotonic: value('beat_monotonic') };
  return db
    .insertInto('owners')
    .values({ owner: value('owner'), ...beat })
    .onConflict((conflict) => conflict.column('owner').doUpdateSet(beat));
});
