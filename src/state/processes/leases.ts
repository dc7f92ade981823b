import { localOf } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { Problem } from '../../lib/problem.ts';
import { inTransaction, Repository, withoutLock } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import { ProcessHeartbeats } from './heartbeats.ts';

/**
 * An exclusive right that only one process can hold at a time, such as `job:<name>` or `instance:<key>`. Call `release`
 * to give it up.
 */
export interface Lease {
  readonly name: string;
  /** The dead process that held the lease until now. Undefined if the lease was free. */
  readonly from?: string | undefined;
  /**
   * Releases the lease. Doesn't fail because of the disk: if the disk rejects writes, the release is retried until it
   * succeeds.
   */
  release(): Promise<void>;
  /** Identifies this taking of the lease. */
  readonly token: string;
}

/** Whether an error says that another process has taken a lease over (see {@link Leases.assertHeld}). */
export const isLeaseLost = (error: unknown): boolean => error instanceof Problem && error.code === 'LEASE_LOST';

/** How often to check whether another process still holds the lease, in milliseconds. */
const lookMs = 100;

/** Stores leases. A lease ends when it's released or when the process that holds it dies. */
export class Leases extends Repository {
  /** Takes the lease. Returns undefined if a live process holds it, which may be this process. */
  take(name: string): Promise<Lease | undefined> {
    return withoutLock(this.context, async (inside) => {
      const owners = new ProcessHeartbeats(inside);
      const [held] = await byName(inside.db, { name });
      if (held !== undefined && !(await this.#isLeftOver(held, owners))) return undefined;
      await owners.beat();
      const mine = { owner: inside.processes.self, token: newId(), taken_at: Math.round(inside.clock.now()) };
      inside.taken?.set(mine.token, (outside) => new Leases(outside).#release(name, mine.token));
      const [taken] = await take(inside.db, { name, ...mine, seen: held?.token ?? '' });
      const from = held?.owner === mine.owner ? undefined : held?.owner;
      return taken && { name, from, token: mine.token, release: () => this.#giveBack(name, mine.token) };
    });
  }

  /**
   * Waits until the lease can be taken, and takes it. Returns undefined if it can't be taken within `forMs`. If
   * `signal` is aborted, throws the signal's reason.
   */
  async wait(name: string, { forMs, signal }: { forMs: number; signal?: AbortSignal }): Promise<Lease | undefined> {
    const clock = localOf(this.context.clock);
    const end = clock.monotonic() + forMs;
    for (;;) {
      const lease = await this.take(name);
      if (lease !== undefined || clock.monotonic() > end) return lease;
      await clock.sleep(lookMs, signal);
    }
  }

  /**
   * Takes the lease away from the process that holds it, even if it's alive. Returns undefined if another process was
   * faster. The process that held it must check {@link assertHeld} in each transaction that needs the lease.
   */
  async seize(name: string): Promise<Lease | undefined> {
    const [held] = await byName(this.context.db, { name });
    if (held !== undefined) await this.#release(name, held.token);
    return this.take(name);
  }

  /**
   * Takes the lease away from a process that the caller considers dead. Other processes may not know yet that it's dead,
   * because each of them has to listen for heartbeats before it can tell.
   */
  async revoke(name: string, owner: string): Promise<void> {
    await this.context.db.deleteFrom('leases').where('name', '=', name).where('owner', '=', owner).execute();
  }

  /** Returns whether the lease still belongs to the process that took it. */
  async isHeld({ name, token }: Pick<Lease, 'name' | 'token'>): Promise<boolean> {
    const [held] = await byName(this.context.db, { name });
    return held?.token === token;
  }

  /**
   * Throws `LEASE_LOST` if another process has taken the lease over. Until the transaction ends, no other process can.
   */
  async assertHeld({ name, token }: Pick<Lease, 'name' | 'token'>): Promise<void> {
    const [held] = await touch(this.context.db, { name, token });
    if (held !== undefined) return;
    throw new Problem({
      code: 'LEASE_LOST',
      family: 'job',
      message: `Another process has taken over the lease ${name}`,
    });
  }

  /** Returns the live process that holds the lease, or undefined if there is none. */
  async holder(name: string): Promise<{ owner: string; takenAt: number } | undefined> {
    const [held] = await byName(this.context.db, { name });
    if (held === undefined || (await new ProcessHeartbeats(this.context).isDead(held.owner))) return undefined;
    return { owner: held.owner, takenAt: held.taken_at };
  }

  /** All leases of live processes. */
  async held(): Promise<{ name: string; owner: string; takenAt: number }[]> {
    const leases = await this.context.db.selectFrom('leases').selectAll().execute();
    const dead = await new ProcessHeartbeats(this.context).dead(leases.map(({ owner }) => owner));
    const held = leases.filter(({ owner }) => !dead.has(owner));
    return held.map(({ name, owner, taken_at: takenAt }) => ({ name, owner, takenAt }));
  }

  /** Deletes the leases of dead processes. */
  async removeDead(): Promise<void> {
    await inTransaction(this.context, async (inside) => {
      const leases = await inside.db.selectFrom('leases').selectAll().execute();
      const dead = await new ProcessHeartbeats(inside).dead(leases.map(({ owner }) => owner));
      for (const { name, owner, token } of leases) if (dead.has(owner)) await new Leases(inside).#release(name, token);
    });
  }

  /**
   * Returns whether a stored lease no longer counts: its process is dead, or this process has released it but the
   * release isn't stored yet.
   */
  async #isLeftOver({ owner, token }: { owner: string; token: string }, owners: ProcessHeartbeats): Promise<boolean> {
    return this.context.pending.has(token) || owners.isDead(owner);
  }

  #giveBack(name: string, token: string): Promise<void> {
    return this.context.pending.settle(token, () => this.#release(name, token));
  }

  async #release(name: string, token: string): Promise<void> {
    const { db, unlockedDb = db } = this.context;
    await release(unlockedDb, { name, token });
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

const touch = prepared((db, value: BoundValue<{ name: string; token: string }>) =>
  db
    .updateTable('leases')
    .set({ token: value('token') })
    .where('name', '=', value('name'))
    .where('token', '=', value('token'))
    .returning('token'),
);

const release = prepared((db, value: BoundValue<{ name: string; token: string }>) =>
  db.deleteFrom('leases').where('name', '=', value('name')).where('token', '=', value('token')),
);
