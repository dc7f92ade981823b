import { newId } from '../../lib/ids.ts';
import { inTransaction, Repository } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import { ProcessHeartbeats } from './heartbeats.ts';

/**
 * An exclusive right that only one process can hold at a time: `job:<name>`, `instance:<key>`. End it with `release`.
 */
export interface Lease {
  readonly name: string;
  /** Never rejects because of the disk: if the disk refuses writes, the release is retried until it succeeds. */
  release(): Promise<void>;
}

/** Poll interval while another process holds the lease. */
const lookMs = 100;

/** Leases. A lease ends when it's released or when its process dies, whichever comes first (R11, R29). */
export class Leases extends Repository {
  /** Takes the lease. Returns undefined while a live process (including this one) holds it. */
  take(name: string): Promise<Lease | undefined> {
    return inTransaction(this.context, async (inside) => {
      const owners = new ProcessHeartbeats(inside);
      const [held] = await byName(inside.db, { name });
      if (held !== undefined && !(await this.#isLeftOver(held, owners))) return undefined;
      await owners.beat();
      const mine = { owner: inside.processes.self, token: newId(), taken_at: Math.round(inside.clock.now()) };
      const [taken] = await take(inside.db, { name, ...mine, seen: held?.token ?? '' });
      return taken && { name, release: () => this.#giveBack(name, mine.token) };
    });
  }

  /** Waits for the lease. Returns undefined after `forMs`. If aborted, throws the signal's reason. */
  async wait(name: string, { forMs, signal }: { forMs: number; signal?: AbortSignal }): Promise<Lease | undefined> {
    const { clock } = this.context;
    const end = clock.monotonic() + forMs;
    for (;;) {
      const lease = await this.take(name);
      if (lease !== undefined || clock.monotonic() > end) return lease;
      await clock.sleep(lookMs, signal);
    }
  }

  /** The live process that holds the lease, if any. */
  async holder(name: string): Promise<{ owner: string; takenAt: number } | undefined> {
    const [held] = await byName(this.context.db, { name });
    if (held === undefined || (await new ProcessHeartbeats(this.context).isDead(held.owner))) return undefined;
    return { owner: held.owner, takenAt: held.taken_at };
  }

  /** All leases of live processes. */
  async held(): Promise<{ name: string; owner: string; takenAt: number }[]> {
    const owners = new ProcessHeartbeats(this.context);
    const alive = new Map<string, boolean>();
    const held: { name: string; owner: string; takenAt: number }[] = [];
    for (const { name, owner, taken_at } of await this.context.db.selectFrom('leases').selectAll().execute()) {
      if (!alive.has(owner)) alive.set(owner, !(await owners.isDead(owner)));
      if (alive.get(owner) === true) held.push({ name, owner, takenAt: taken_at });
    }
    return held;
  }

  /** Deletes leases of dead processes. */
  async removeDead(): Promise<void> {
    await inTransaction(this.context, async (inside) => {
      const owners = new ProcessHeartbeats(inside);
      for (const { name, owner, token } of await inside.db.selectFrom('leases').selectAll().execute()) {
        if (await owners.isDead(owner)) await new Leases(inside).#release(name, token);
      }
    });
  }

  /** True if the lease's process is dead, or if the lease is our own and only its release is still pending. */
  async #isLeftOver({ owner, token }: { owner: string; token: string }, owners: ProcessHeartbeats): Promise<boolean> {
    return this.context.pending.has(token) || owners.isDead(owner);
  }

  #giveBack(name: string, token: string): Promise<void> {
    return this.context.pending.settle(token, () => this.#release(name, token));
  }

  async #release(name: string, token: string): Promise<void> {
    await release(this.context.db, { name, token });
  }
}

const byName = prepared((db, value: BoundValue<{ name: string }>) =>
  db.selectFrom('leases').selectAll().where('name', '=', value('name')),
);

const take = prepared(
  (db, value: BoundValue<{ name: string; owner: string; token: string; taken_at: number; seen: string }>) => {
    const mine = { owner: value('owner'), token: value('token'), taken_at: value('taken_at') };
    return db
      .insertInto('leases')
      .values({ name: value('name'), ...mine })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(mine).where('leases.token', '=', value('seen')))
      .returning('token');
  },
);

const release = prepared((db, value: BoundValue<{ name: string; token: string }>) =>
  db.deleteFrom('leases').where('name', '=', value('name')).where('token', '=', value('token')),
);
