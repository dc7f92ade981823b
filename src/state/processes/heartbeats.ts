import { inTransactionOn, Repository, withoutLock } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import { localHeartbeats, type Processes } from './processes.ts';

/** On a server, a heartbeat is recorded again only after this time. */
const freshMs = 2_000;

/**
 * If a process can't record a heartbeat for this part of the maximum silence, it can't see those of other processes
 * either.
 */
const maxGap = 5 / 6;

/** The heartbeats that a process has recorded on a server. */
interface Recorded {
  /** When it recorded the last one, in monotonic milliseconds of the state's clock. */
  readonly at: number;
  /** The same on the process's own clock. */
  readonly ownAt: number;
  /** When it recorded the first one after the last gap, on its own clock. */
  readonly since: number;
  /** Whether there was a gap. */
  readonly hadGap: boolean;
}

/**
 * A process that has just started can't know whether the server was frozen until then. It considers others dead only
 * after this many times the maximum silence, unless it has listened for the maximum silence itself.
 */
const newcomerFactor = 5;

/**
 * A silent process on another machine is forgotten only after this time, in milliseconds. It may still be alive, and
 * needs what it has recorded about itself if it can reach the state again.
 */
const forgetMs = 3_600_000;

const recorded = new WeakMap<Processes, Recorded>();

/** Stores the last heartbeat of each process that holds a lease or a slot. */
export class ProcessHeartbeats extends Repository {
  /**
   * Records that this process is alive. Only the first call inserts a row. It also deletes the rows of processes that
   * are gone, so the table stays small. On a server, this method uses no transaction of its
   * caller, because all of the process's transactions would then wait for its one row.
   */
  async beat(): Promise<void> {
    const { clock, processes, unlockedDb } = this.context;
    const now = clock.monotonic();
    const last = recorded.get(processes);
    const ageMs = now - (last?.at ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= 0 && ageMs < freshMs) return;
    await withoutLock(this.context, (inside) => new ProcessHeartbeats(inside).#record(now));
    if (unlockedDb === undefined) return;
    const ownAt = performance.now();
    const isGap = last !== undefined && ownAt - last.ownAt > this.#maxGapMs;
    const since = last === undefined || isGap ? ownAt : last.since;
    recorded.set(processes, { at: now, ownAt, since, hadGap: isGap || (last?.hadGap ?? false) });
  }

  async #record(monotonic_ms: number): Promise<void> {
    const { clock, processes, db } = this.context;
    const values = { owner: processes.self, wall_ms: Math.round(clock.now()), monotonic_ms };
    const known = await update(db, values);
    if (known.length > 0) return;
    await inTransactionOn(this.context, [], async (inside) => {
      await insert(inside.db, values);
      await new ProcessHeartbeats(inside).#removeGone();
    });
  }

  /**
   * Returns whether the process is dead. On the same machine, this method looks the process up in the process table,
   * which takes no time and needs no clock. Otherwise, it checks the age of the last heartbeat. It uses the monotonic
   * clock if both processes share a boot, and the wall clock otherwise.
   */
  async isDead(owner: string): Promise<boolean> {
    return (await this.dead([owner])).has(owner);
  }

  /** Returns which of these processes are dead, as {@link isDead} does. Looks all of them up in one statement. */
  async dead(owners: readonly string[]): Promise<Set<string>> {
    return this.#select(owners, (row) => this.#isSilent(row));
  }

  /** Returns which of these processes have ended. Unlike {@link dead}, waits much longer for one on another machine. */
  async gone(owners: readonly string[]): Promise<Set<string>> {
    return this.#select(owners, (row) => this.#isForgotten(row));
  }

  /**
   * Returns the processes that have ended, or that can't be inspected and whose heartbeats are missing or match. `found`:
   * their heartbeats, if they were read before.
   */
  async #select(
    owners: readonly string[],
    matches: (row: Beat) => boolean,
    found?: readonly Beat[],
  ): Promise<Set<string>> {
    const { processes } = this.context;
    const fates = new Map(owners.map((owner) => [owner, processes.stateOf(owner)]));
    const unknown = [...fates].flatMap(([owner, fate]) => (fate === 'unknown' ? [owner] : []));
    const rows = new Map((found ?? (await this.#of(unknown))).map((row) => [row.owner, row]));
    const isSelected = ([owner, fate]: [string, string]): boolean => {
      const row = rows.get(owner);
      return fate === 'unknown' ? row === undefined || matches(row) : fate === 'dead';
    };
    return new Set([...fates].filter(isSelected).map(([owner]) => owner));
  }

  #isForgotten(row: Beat): boolean {
    return this.#silence(row) > forgetMs && this.#isSilent(row);
  }

  #isSilent(row: Beat): boolean {
    const silenceMs = this.#silence(row);
    return silenceMs > this.#maxSilenceMs && this.#hasListened(silenceMs);
  }

  async #of(owners: readonly string[]): Promise<Beat[]> {
    if (owners.length === 0) return [];
    return this.context.db.selectFrom('heartbeats').selectAll().where('owner', 'in', owners).execute();
  }

  get #maxGapMs(): number {
    return maxGap * this.#maxSilenceMs;
  }

  get #maxSilenceMs(): number {
    return (this.context.processes.heartbeats ?? localHeartbeats).silenceMs;
  }

  /**
   * Returns whether this process would have seen the heartbeats of a process that was silent for this long. While the
   * server was away or frozen, no process could record any. Without this check, the first process that reaches the
   * server again would take over from all others.
   */
  #hasListened(silenceMs: number): boolean {
    if (this.context.unlockedDb === undefined) return true;
    const own = recorded.get(this.context.processes);
    const isLong = silenceMs > newcomerFactor * this.#maxSilenceMs;
    if (own === undefined) return isLong;
    const now = performance.now();
    if (now - own.ownAt > this.#maxGapMs) return false;
    return now - own.since > this.#maxSilenceMs || (isLong && !own.hadGap);
  }

  /**
   * Returns when a process last recorded a heartbeat, in epoch milliseconds by the clock of that process. Returns
   * undefined if there is no record.
   */
  async lastBeat(owner: string): Promise<number | undefined> {
    const { db } = this.context;
    const row = await db.selectFrom('heartbeats').select('wall_ms').where('owner', '=', owner).executeTakeFirst();
    return row?.wall_ms;
  }

  async #removeGone(): Promise<void> {
    const { db } = this.context;
    const rows = await db.selectFrom('heartbeats').selectAll().orderBy('owner').execute();
    const owners = await this.#select(
      rows.map(({ owner }) => owner),
      (row) => this.#isForgotten(row),
      rows,
    );
    if (owners.size > 0)
      await db
        .deleteFrom('heartbeats')
        .where('owner', 'in', [...owners])
        .execute();
  }

  #silence({ owner, wall_ms, monotonic_ms }: Beat): number {
    const { clock, processes } = this.context;
    if (!processes.sharesBoot(owner)) return Math.abs(clock.now() - wall_ms);
    return clock.monotonic() - Math.max(monotonic_ms, processes.bootedAt ?? Number.NEGATIVE_INFINITY);
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
