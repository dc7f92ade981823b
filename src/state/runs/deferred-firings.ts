import type { StoreContext } from '../engine/context.ts';
import type { DeferredFiringRow } from '../tables.ts';

/** Firings that wait for something outside of the daemon, written down so that no end of the process loses them. */
export class DeferredFirings {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** It takes the place of the one of its job, unless each of them has a run of its own. */
  async add(firing: DeferredFiringRow): Promise<void> {
    await this.drop(firing);
    await this.#context.db.insertInto('deferred_firings').values(firing).execute();
  }

  /** It has its run, or comes to nothing; so does what it has taken the place of. */
  async drop({ job, at, logical_at }: DeferredFiringRow): Promise<void> {
    const ofJob = this.#context.db.deleteFrom('deferred_firings').where('job', '=', job);
    await (logical_at === null ? ofJob : ofJob.where('at', '=', at)).execute();
  }

  /** The earliest of each job; from now on it's the caller's to fire them. */
  async take(): Promise<Map<string, number>> {
    const taken = await this.earliest();
    await this.#context.db.deleteFrom('deferred_firings').execute();
    return taken;
  }

  /** The earliest of each job. */
  async earliest(): Promise<Map<string, number>> {
    const rows = await this.#context.db
      .selectFrom('deferred_firings')
      .select(({ fn }) => ['job', fn.min('at').as('at')])
      .groupBy('job')
      .execute();
    return new Map(rows.map(({ job, at }) => [job, at]));
  }
}
