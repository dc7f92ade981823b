import { inTransaction, type StoreContext } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';

/** A process that cannot be looked at (another container or machine) is taken for dead after this silence. */
const silenceMs = 30_000;

/** The processes that hold something, each with its last heartbeat. */
export class ProcessHeartbeats {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Writes down that this process is alive now. */
  async beat(): Promise<void> {
    const { db, clock, processes } = this.#context;
    const beat = { wall_ms: Math.round(clock.now()), monotonic_ms: clock.monotonic() };
    await write(db, { owner: processes.self, ...beat });
  }

  /**
   * Whether the process is gone. On one machine a look at the process table decides, at once and without clocks;
   * elsewhere the heartbeat does, on the monotonic clock within one boot, on the wall clock otherwise.
   */
  async isDead(owner: string): Promise<boolean> {
    const { db, processes } = this.#context;
    const fate = processes.stateOf(owner);
    if (fate !== 'unknown') return fate === 'dead';
    const row = await db.selectFrom('heartbeats').selectAll().where('owner', '=', owner).executeTakeFirst();
    return row === undefined || this.#silence(owner, row) > silenceMs;
  }

  /** When a process last wrote down that it is alive (epoch ms by its clock); undefined when it never did. */
  async lastBeat(owner: string): Promise<number | undefined> {
    const { db } = this.#context;
    const row = await db.selectFrom('heartbeats').select('wall_ms').where('owner', '=', owner).executeTakeFirst();
    return row?.wall_ms;
  }

  /** Forgets the dead, so that the table stays as small as the number of living processes. */
  async removeDead(): Promise<void> {
    await inTransaction(this.#context, async (inside) => {
      const owners = new ProcessHeartbeats(inside);
      for (const { owner } of await inside.db.selectFrom('heartbeats').select('owner').execute()) {
        if (await owners.isDead(owner)) await inside.db.deleteFrom('heartbeats').where('owner', '=', owner).execute();
      }
    });
  }

  #silence(owner: string, row: { wall_ms: number; monotonic_ms: number }): number {
    const { clock, processes } = this.#context;
    return processes.sharesBoot(owner) ? clock.monotonic() - row.monotonic_ms : Math.abs(clock.now() - row.wall_ms);
  }
}

const write = prepared((db, value: BoundValue<{ owner: string; wall_ms: number; monotonic_ms: number }>) => {
  const beat = { wall_ms: value('wall_ms'), monotonic_ms: value('monotonic_ms') };
  return db
    .insertInto('heartbeats')
    .values({ owner: value('owner'), ...beat })
    .onConflict((conflict) => conflict.column('owner').doUpdateSet(beat));
});
