import { inTransaction, Repository } from '../engine/context.ts';
import type { DeferredFiringRow } from '../tables.ts';

/** Stores firings that are waiting for something outside the daemon, so that they survive a restart. */
export class DeferredFirings extends Repository {
  /** Adds a waiting firing. It replaces the job's other waiting firings, unless each firing has its own run. */
  add(firing: DeferredFiringRow): Promise<void> {
    return inTransaction(this.context, async (inside) => {
      await new DeferredFirings(inside).drop(firing);
      await inside.db.insertInto('deferred_firings').values(firing).execute();
    });
  }

  /** Deletes a firing that now has a run or was dropped. Also deletes the firings that it replaced. */
  async drop({ job, at, logical_at }: DeferredFiringRow): Promise<void> {
    const ofJob = this.context.db.deleteFrom('deferred_firings').where('job', '=', job);
    await (logical_at === null ? ofJob : ofJob.where('at', '=', at)).execute();
  }

  /** Returns each job's earliest waiting firing and deletes all of them from the store. The caller must fire them. */
  async take(): Promise<Map<string, number>> {
    const taken = await this.earliest();
    await this.context.db.deleteFrom('deferred_firings').execute();
    return taken;
  }

  /** Each job's earliest firing. */
  async earliest(): Promise<Map<string, number>> {
    const rows = await this.context.db
      .selectFrom('deferred_firings')
      .select(({ fn }) => ['job', fn.min('at').as('at')])
      .groupBy('job')
      .execute();
    return new Map(rows.map(({ job, at }) => [job, at]));
  }
}
