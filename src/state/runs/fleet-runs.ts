import { newId } from '../../lib/ids.ts';
import { Repository, type StoreContext, withoutLock } from '../engine/context.ts';
import { ProcessHeartbeats } from '../processes/heartbeats.ts';
import { type Lease, Leases } from '../processes/leases.ts';
import type { FleetRunRow } from '../tables.ts';

/** A run for the fleet, as its planner queues it. */
export type NewFleetRun = Pick<
  FleetRunRow,
  'job' | 'fired_at' | 'logical_at' | 'attempt' | 'next_firing' | 'urgency' | 'config_sha256'
>;

/** A run that this process has taken. */
export type TakenRun = FleetRunRow & { readonly owner: string; readonly token: string };

/** How long a run has been waiting for its busy job. */
export type BusyWait = Pick<FleetRunRow, 'busy_ms' | 'busy_at'>;

/** How many more runs to look at than to take, because other processes may be faster. */
const spare = 20;

/** Stores the queue of runs from which the processes of a fleet take their work. */
export class FleetRuns extends Repository {
  /**
   * Queues a run and returns the row's ID. Returns undefined if the job has a run that hasn't ended. Call this in the
   * transaction in which the run's firing counts as fired.
   */
  async add(run: NewFleetRun): Promise<string | undefined> {
    const { db, clock } = this.context;
    const { job, ...rest } = run;
    const waits = { ...untaken, ...notBusy, deaths: 0, cancelled: 0, outcome: null };
    const fresh = { ...rest, ...waits, id: newId(), queued_at: Math.round(clock.now()) };
    const row = await db
      .insertInto('fleet_runs')
      .values({ job, ...fresh })
      .onConflict((conflict) => conflict.column('job').doUpdateSet(fresh).where('fleet_runs.outcome', 'is not', null))
      .returning('id')
      .executeTakeFirst();
    return row?.id;
  }

  /**
   * Takes up to `limit` waiting runs that were planned with the config, most urgent first. `except` are jobs that this
   * process can't run.
   */
  async take(config: string, limit: number, except: readonly string[] = []): Promise<TakenRun[]> {
    const waiting = await nextOf(this.context, { config, limit: limit + spare, except });
    // Most calls find nothing, and need no more than this.
    if (waiting.length === 0) return [];
    return withoutLock(this.context, async (inside) => {
      const { db, clock, processes } = inside;
      await new ProcessHeartbeats(inside).beat();
      const taken: TakenRun[] = [];
      for (const job of waiting) {
        if (taken.length === limit) break;
        const token = newId();
        // If the response is lost, this process doesn't know that it has the run, and would keep it for as long as it lives.
        inside.taken?.set(token, (outside) => new FleetRuns(outside).#release(job, token));
        const row = await db
          .updateTable('fleet_runs')
          .set({ owner: processes.self, token, taken_at: Math.round(clock.now()) })
          .where('job', '=', job)
          .where('owner', 'is', null)
          .where('outcome', 'is', null)
          .where('config_sha256', '=', config)
          .returningAll()
          .executeTakeFirst();
        if (row !== undefined) taken.push(takenRun(row));
      }
      return taken;
    });
  }

  /** Returns the hashes of the configs with which the waiting runs were planned. */
  async waitingConfigs(): Promise<string[]> {
    const { db } = this.context;
    const rows = await db
      .selectFrom('fleet_runs')
      .select('config_sha256')
      .distinct()
      .where('owner', 'is', null)
      .where('outcome', 'is', null)
      .execute();
    return rows.map(({ config_sha256 }) => config_sha256);
  }

  /**
   * Records that a taken run has begun. Returns false if this process has lost it. Call this in the transaction that
   * begins the run.
   */
  begun({ job, token }: TakenRun, run: string): Promise<boolean> {
    return this.#change({ job, token }, { run });
  }

  /** Records the outcome of a taken run. Returns false if this process has lost it. */
  end({ job, token }: TakenRun, outcome: string): Promise<boolean> {
    return this.#change({ job, token }, { outcome });
  }

  /** Like {@link end}, in a statement of its own, as soon as the state can be written. */
  settle({ job, token }: TakenRun, outcome: string): Promise<void> {
    const end = () => withoutLock(this.context, (inside) => new FleetRuns(inside).#change({ job, token }, { outcome }));
    return this.context.pending.settle(`fleet run ${token}`, end);
  }

  /** Makes a taken run wait for another process. By default, it hasn't been waiting for its busy job. */
  giveBack(
    { job, token }: TakenRun,
    { deaths, attempt, busy_ms, busy_at }: Pick<FleetRunRow, 'deaths' | 'attempt'> & Partial<BusyWait>,
  ): Promise<boolean> {
    const wait = busy_ms === undefined || busy_at === undefined ? notBusy : { busy_ms, busy_at };
    return this.#change({ job, token }, { ...untaken, deaths, attempt, ...wait });
  }

  /** Deletes a run that no process has taken. Returns false if one has. */
  async withdraw(id: string): Promise<boolean> {
    const run = this.context.db.deleteFrom('fleet_runs').where('id', '=', id).where('owner', 'is', null);
    return (await run.returning('id').executeTakeFirst()) !== undefined;
  }

  /** Makes the process that has taken a run stop it. */
  async cancel(id: string): Promise<void> {
    await this.context.db.updateTable('fleet_runs').set({ cancelled: 1 }).where('id', '=', id).execute();
  }

  /**
   * Deletes a run whose outcome the planner has taken, as soon as the state can be written. Throws `LEASE_LOST` if the
   * planner has lost its lease, because the next planner would wait forever for a run that doesn't exist any more.
   */
  forget(id: string, lease: Pick<Lease, 'name' | 'token'>): Promise<void> {
    const forget = () => withoutLock(this.context, (inside) => new FleetRuns(inside).#forget(id, lease));
    return this.context.pending.settle(`fleet run ${id}`, forget);
  }

  /** Assigns all waiting runs to a config, such as after a reload. */
  async assign(config: string): Promise<void> {
    await this.context.db
      .updateTable('fleet_runs')
      .set({ config_sha256: config })
      .where('owner', 'is', null)
      .where('config_sha256', '<>', config)
      .execute();
  }

  /** Returns the runs that processes have taken and not ended. */
  async taken(): Promise<TakenRun[]> {
    const rows = this.context.db.selectFrom('fleet_runs').selectAll();
    return (await rows.where('owner', 'is not', null).where('outcome', 'is', null).execute()).map(takenRun);
  }

  /** Returns the runs whose outcomes the planner hasn't taken. */
  async ended(): Promise<FleetRunRow[]> {
    return this.context.db.selectFrom('fleet_runs').selectAll().where('outcome', 'is not', null).execute();
  }

  async all(): Promise<FleetRunRow[]> {
    return this.context.db.selectFrom('fleet_runs').selectAll().orderBy('job').execute();
  }

  /** Returns the runs of this process that the planner has cancelled and those that this process has lost. */
  async stillOurs(): Promise<Map<string, { readonly isCancelled: boolean }>> {
    const { db, processes } = this.context;
    const rows = await db
      .selectFrom('fleet_runs')
      .select(['token', 'cancelled'])
      .where('owner', '=', processes.self)
      .where('outcome', 'is', null)
      .execute();
    return new Map(rows.map(({ token, cancelled }) => [token ?? '', { isCancelled: cancelled === 1 }]));
  }

  /** One statement, which also locks the lease on a server, so that no other process can take it meanwhile. */
  async #forget(id: string, { name, token }: Pick<Lease, 'name' | 'token'>): Promise<void> {
    const { db, unlockedDb } = this.context;
    const held = db
      .selectFrom('leases')
      .select('token')
      .where('name', '=', name)
      .where('token', '=', token)
      .$if(unlockedDb !== undefined, (lease) => lease.forShare());
    const run = db
      .deleteFrom('fleet_runs')
      .where('id', '=', id)
      .where(({ exists }) => exists(held));
    const forgotten = await run.returning('id').executeTakeFirst();
    if (forgotten === undefined) await new Leases(this.context).assertHeld({ name, token });
  }

  async #release(job: string, token: string): Promise<void> {
    await this.#change({ job, token }, untaken);
  }

  async #change(
    { job, token }: Pick<TakenRun, 'job' | 'token'>,
    change: Partial<Omit<FleetRunRow, 'job' | 'id'>>,
  ): Promise<boolean> {
    const row = await this.context.db
      .updateTable('fleet_runs')
      .set(change)
      .where('job', '=', job)
      .where('token', '=', token)
      .where('outcome', 'is', null)
      .returning('job')
      .executeTakeFirst();
    return row !== undefined;
  }
}

const notBusy: BusyWait = { busy_ms: 0, busy_at: null };

const untaken = { owner: null, token: null, taken_at: null, run: null };

const takenRun = (row: FleetRunRow): TakenRun => ({ ...row, owner: row.owner ?? '', token: row.token ?? '' });

async function nextOf(
  { db }: StoreContext,
  { config, limit, except }: { config: string; limit: number; except: readonly string[] },
): Promise<string[]> {
  const rows = await db
    .selectFrom('fleet_runs')
    .select('job')
    .where('owner', 'is', null)
    .where('outcome', 'is', null)
    .where('config_sha256', '=', config)
    .$if(except.length > 0, (query) => query.where('job', 'not in', except))
    .orderBy('urgency', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ job }) => job);
}
