import { tickOf } from '../../lib/clock.ts';
import { newRunId } from '../../lib/ids.ts';
import { Problem } from '../../lib/problem.ts';
import type { RunWarning } from '../../lib/run-warnings.ts';
import { inTransaction, inTransactionOn, joinTransaction, Repository, type StoreContext } from '../engine/context.ts';
import { jobLock } from '../engine/lock-keys.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import { ProcessHeartbeats } from '../processes/heartbeats.ts';
import type { RunRow, RunState } from '../tables.ts';
import { endRetriesOf } from './end-retries.ts';
import { forgetRuns } from './forget-runs.ts';
import { failureColumns, type RunFailure } from './run-failure.ts';
import { findStreaks, goodStates, type Streak } from './streaks.ts';

export interface RunEnd {
  readonly state: Exclude<RunState, 'running' | 'retrying' | 'owed'>;
  readonly rows?: number;
  readonly bytes?: number;
  /**
   * Why the run failed, including the value that was seen. The text is redacted, because the history is kept longer
   * than any other data.
   */
  readonly problem?: RunFailure;
}

/** Stores the history, which contains every run of every job with its result. */
export class Runs extends Repository {
  /**
   * Records that a run has begun in this process. Returns the run's ID. `firedAt` is the time of the run's firing, in
   * epoch milliseconds.
   */
  begin({ firedAt, ...run }: { job: string; origin: 'person' | 'schedule'; firedAt?: number }): Promise<string> {
    return inTransactionOn(this.context, [jobLock(run.job)], async (inside) => {
      await new ProcessHeartbeats(inside).beat();
      const { db, clock, processes } = inside;
      const begun = {
        ...run,
        owner: processes.self,
        fired_at: firedAt ?? null,
        started_at: Math.round(clock.now()),
        started_tick: Math.round(tickOf(clock)),
      };
      // Generate another ID if this one exists. IDs may be equal if many runs begin in the same second.
      for (;;) {
        const [row] = await insert(db, { id: newRunId(clock.now()), ...begun });
        if (row === undefined) continue;
        inside.taken?.set(row.id, (outside) => new Runs(outside).finish(row.id, lostAtBegin));
        return row.id;
      }
    });
  }

  /**
   * Throws `RUN_LOST` unless this process is executing the run. Call this in the transaction that settles the run's
   * result (a fencing token): if this process was suspended, another one may have considered it dead, interrupted the
   * run and run the job itself.
   */
  async assertOwn(id: string): Promise<void> {
    const { db, processes } = this.context;
    const [own] = await touchOwn(db, { id, owner: processes.self });
    if (own === undefined) throw lostRun(id);
  }

  /** Records that another process's runs of a job were interrupted. Call this after taking over the job's lease. */
  async interruptOf(owner: string, job: string): Promise<void> {
    await inTransaction(this.context, async (inside) => {
      const left = (await running(inside)).filter((run) => run.owner === owner && run.job === job);
      for (const { id } of left) await new Runs(inside).finish(id, { state: 'interrupted', problem: died });
    });
  }

  /** Ends a run that is in progress. Changes nothing if the run has already ended or if its payload is owed. */
  async finish(id: string, end: RunEnd): Promise<void> {
    await this.#end(id, end, ['running']);
  }

  /**
   * Sets a run's state from its payload's state. A later state replaces an earlier one, such as if a dead payload is
   * sent again.
   */
  async settle(id: string, end: RunEnd): Promise<void> {
    await this.#end(id, end, ['running', 'owed', 'quarantined', 'dead', 'superseded']);
  }

  #end(id: string, end: RunEnd, from: readonly RunState[]): Promise<void> {
    return joinTransaction(this.context, async (inside) => {
      await endRetriesOf(inside, id, goodStates.includes(end.state));
      await inside.db
        .updateTable('runs')
        .set({
          state: end.state,
          ended_at: Math.round(inside.clock.now()),
          took_ms: await new Runs(inside).#tookMs(id),
          ...failureColumns(end.problem),
          row_count: end.rows,
          bytes: end.bytes,
        })
        .where('id', '=', id)
        .where('state', 'in', from)
        .execute();
    });
  }

  /**
   * Returns how long the run has taken. Returns null if the run began in another boot, because the clocks of two boots
   * can't be compared.
   */
  async #tookMs(id: string): Promise<number | null> {
    const { db, clock, processes } = this.context;
    const run = db.selectFrom('runs').select(['owner', 'started_tick']).where('id', '=', id);
    const { owner, started_tick } = (await run.executeTakeFirst()) ?? { started_tick: null };
    if (started_tick === null || owner === undefined || !processes.sharesBoot(owner)) return null;
    return Math.max(0, Math.round(tickOf(clock)) - started_tick);
  }

  /**
   * Records that the run's payload is owed (maybe again). From now on, the payload's state determines the run's state.
   */
  owed(id: string, { rows, bytes }: { rows: number; bytes: number }): Promise<void> {
    const facts = { row_count: rows, bytes, ended_at: null, took_ms: null, ...failureColumns(undefined) };
    return joinTransaction(this.context, async (inside) => {
      await endRetriesOf(inside, id, true);
      await inside.db
        .updateTable('runs')
        .set({ state: 'owed', ...facts })
        .where('id', '=', id)
        .execute();
    });
  }

  /** Counts a request that was charged to this run. */
  async countRequest(id: string): Promise<void> {
    await countOne(this.context.db, { id });
  }

  /** Stores the run's warnings. They must already be redacted. */
  async keepWarnings(id: string, warnings: readonly RunWarning[]): Promise<void> {
    if (warnings.length === 0) return;
    const text = JSON.stringify(warnings);
    await this.context.db.updateTable('runs').set({ warnings: text }).where('id', '=', id).execute();
  }

  async find(id: string): Promise<RunRow | undefined> {
    return (await byId(this.context.db, { id }))[0];
  }

  async last(job: string): Promise<RunRow | undefined> {
    return (await this.history({ job, limit: 1 }))[0];
  }

  /**
   * Returns the newest run of each job. If `states` is given, returns the newest run that is in one of these states.
   */
  async lasts(states?: readonly RunState[]): Promise<RunRow[]> {
    return this.context.db
      .selectFrom('runs')
      .selectAll()
      .where('sequence', 'in', ({ selectFrom }) =>
        selectFrom('runs as newest')
          .select(({ fn }) => fn.max('newest.sequence').as('sequence'))
          .$if(states !== undefined, (newest) => newest.where('newest.state', 'in', states ?? []))
          .groupBy('newest.job'),
      )
      .execute();
  }

  /** Returns the jobs whose newest runs have failed (see {@link findStreaks}). */
  streaks(): Promise<Streak[]> {
    return findStreaks(this.context.db);
  }

  /** Newest first. */
  async history(filter: { job?: string; limit: number }): Promise<RunRow[]> {
    let query = this.context.db.selectFrom('runs').selectAll().orderBy('sequence', 'desc').limit(filter.limit);
    if (filter.job !== undefined) query = query.where('job', '=', filter.job);
    return query.execute();
  }

  /** Records the runs of dead processes as interrupted. Returns these runs. */
  async interruptOrphans(): Promise<RunRow[]> {
    return inTransaction(this.context, async (inside) => {
      const runs = await running(inside);
      const dead = await new ProcessHeartbeats(inside).dead(runs.map(({ owner }) => owner));
      const orphans = runs.filter(({ owner }) => dead.has(owner));
      for (const { id } of orphans) await new Runs(inside).finish(id, { state: 'interrupted', problem: died });
      return orphans;
    });
  }

  /**
   * Records the scheduled runs that aren't in the fleet's queue as interrupted. Returns these runs. Only a planner has
   * such runs, so a process that begins to plan knows without waiting that its predecessor no longer has them.
   */
  async interruptUnqueued(): Promise<RunRow[]> {
    return inTransaction(this.context, async (inside) => {
      const queued = new Set((await inside.db.selectFrom('fleet_runs').select('run').execute()).map(({ run }) => run));
      const unqueued = (await running(inside)).filter(({ id, origin }) => origin === 'schedule' && !queued.has(id));
      for (const { id } of unqueued) await new Runs(inside).finish(id, { state: 'interrupted', problem: died });
      return unqueued;
    });
  }

  /** Deletes all runs except the newest `keep` runs (see {@link forgetRuns}). */
  async prune(keep: number): Promise<void> {
    await forgetRuns(this.context, keep);
  }

  /** Returns the runs that live processes are currently executing. */
  async underway(): Promise<RunRow[]> {
    const runs = await running(this.context);
    const dead = await new ProcessHeartbeats(this.context).dead(runs.map(({ owner }) => owner));
    return runs.filter(({ owner }) => !dead.has(owner));
  }
}

const died: RunFailure = { code: 'RUN_INTERRUPTED', message: 'The process ended during the run' };

function lostRun(id: string): Problem {
  return new Problem({
    code: 'RUN_LOST',
    family: 'job',
    message:
      'Another process took the job over while this process was suspended or disconnected; the result was discarded',
    seen: `run ${id}`,
    next: 'no action needed: the other process runs the job',
  });
}

/** The end of a run if its process doesn't know that the run was recorded. Its firing is repeated. */
const lostAtBegin: RunEnd = {
  state: 'interrupted',
  problem: { code: 'RUN_INTERRUPTED', message: 'The connection to the state was lost when the run began' },
};

export const warningsOf = ({ warnings }: Pick<RunRow, 'warnings'>): readonly RunWarning[] =>
  warnings === null ? [] : (JSON.parse(warnings) as RunWarning[]);

interface Id {
  readonly id: string;
}

const byId = prepared((db, value: BoundValue<Id>) => db.selectFrom('runs').selectAll().where('id', '=', value('id')));

type NewRun = Pick<RunRow, 'id' | 'job' | 'origin' | 'owner' | 'fired_at' | 'started_at' | 'started_tick'>;

/** Returns nothing if the ID exists. */
const insert = prepared((db, value: BoundValue<NewRun>) =>
  db
    .insertInto('runs')
    .values({
      id: value('id'),
      job: value('job'),
      origin: value('origin'),
      owner: value('owner'),
      fired_at: value('fired_at'),
      started_at: value('started_at'),
      started_tick: value('started_tick'),
      state: 'running',
      ended_at: null,
      row_count: null,
      bytes: null,
      requests: 0,
      took_ms: null,
      warnings: null,
      ...failureColumns(undefined),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id'),
);

const countOne = prepared((db, value: BoundValue<Id>) =>
  db
    .updateTable('runs')
    .set((row) => ({ requests: row('requests', '+', 1) }))
    .where('id', '=', value('id')),
);

/** Also locks the row on a server until the transaction ends, so that no other process can interrupt the run. */
const touchOwn = prepared((db, value: BoundValue<Pick<RunRow, 'id' | 'owner'>>) =>
  db
    .updateTable('runs')
    .set({ state: 'running' })
    .where('id', '=', value('id'))
    .where('owner', '=', value('owner'))
    .where('state', '=', 'running')
    .returning('id'),
);

const running = ({ db }: StoreContext) => db.selectFrom('runs').selectAll().where('state', '=', 'running').execute();
