import { Repository } from '../engine/context.ts';
import type { DeferredFiringRow } from '../tables.ts';

/** Firings that wait for something outside the daemon. They're stored, so that they survive a restart. */
export class DeferredFirings extends Repository {
  /** Replaces the job's waiting firing, unless each firing has its own run. */
  async add(firing: DeferredFiringRow): Promise<void> {
    await this.drop(firing);
    await this.context.db.insertInto('deferred_firings').values(firing).execute();
  }

  /** Deletes a firing that now has a run or is dropped, together with the firings that it replaced. */
  async drop({ job, at, logical_at }: DeferredFiringRow): Promise<void> {
    const ofJob = this.context.db.deleteFrom('deferred_firings').where('job', '=', job);
    await (logical_at === null ? ofJob : ofJob.where('at', '=', at)).execute();
  }

  /** Takes each job's earliest firing. The caller must fire them. */
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
