import { inTransaction, Repository } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';

/**
 * A process that can't be inspected (another container or machine) counts as dead after this time without a heartbeat.
 */
const silenceMs = 30_000;

/** Processes that hold a lease or a slot, each with its last heartbeat. */
export class ProcessHeartbeats extends Repository {
  /**
   * Records that this process is alive. The first call also deletes dead processes, so the table has only as many rows
   * as there are live processes, and a short command needs no disk sync for it.
   */
  async beat(): Promise<void> {
    const { clock, processes } = this.context;
    const values = { owner: processes.self, wall_ms: Math.round(clock.now()), monotonic_ms: clock.monotonic() };
    const known = await update(this.context.db, values);
    if (known.length > 0) return;
    await inTransaction(this.context, async (inside) => {
      await insert(inside.db, values);
      await new ProcessHeartbeats(inside).#removeDead();
    });
  }

  /**
   * Whether the process is dead. On the same machine, checks the process table, which is immediate and needs no clock.
   * Otherwise, checks the heartbeat: by the monotonic clock within one boot, by the wall clock across boots.
   */
  async isDead(owner: string): Promise<boolean> {
    const { db, processes } = this.context;
    const fate = processes.stateOf(owner);
    if (fate !== 'unknown') return fate === 'dead';
    const row = await db.selectFrom('heartbeats').selectAll().where('owner', '=', owner).executeTakeFirst();
    return row === undefined || this.#silence(owner, row) > silenceMs;
  }

  /** When a process last recorded a heartbeat (epoch ms by its clock); undefined if it never did. */
  async lastBeat(owner: string): Promise<number | undefined> {
    const { db } = this.context;
    const row = await db.selectFrom('heartbeats').select('wall_ms').where('owner', '=', owner).executeTakeFirst();
    return row?.wall_ms;
  }

  async #removeDead(): Promise<void> {
    const { db } = this.context;
    for (const { owner } of await db.selectFrom('heartbeats').select('owner').execute()) {
      if (await this.isDead(owner)) await db.deleteFrom('heartbeats').where('owner', '=', owner).execute();
    }
  }

  #silence(owner: string, row: { wall_ms: number; monotonic_ms: number }): number {
    const { clock, processes } = this.context;
    return processes.sharesBoot(owner) ? clock.monotonic() - row.monotonic_ms : Math.abs(clock.now() - row.wall_ms);
  }
}

type Beat = { owner: string; wall_ms: number; monotonic_ms: number };

const update = prepared((db, value: BoundValue<Beat>) =>
  db
    .updateTable('heartbeats')
    .set({ wall_ms: value('wall_ms'), monotonic_ms: value('monotonic_ms') })
    .where('owner', '=', value('owner'))
    .returning('owner'),
);

const insert = prepared((db, value: BoundValue<Beat>) => {
  const beat = { wall_ms: value('wall_ms'), monotonic_ms: value('monotonic_ms') };
  return db
    .insertInto('heartbeats')
    .values({ owner: value('owner'), ...beat })
    .onConflict((conflict) => conflict.column('owner').doUpdateSet(beat));
});
