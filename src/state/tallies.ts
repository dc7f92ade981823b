import type { Ground } from './part.ts';

/** What a job's latest runs came to, taken together. */
export interface Tally {
  /** Runs that sent something, and the requests that took, repeats included. */
  readonly sent: number;
  readonly requests: number;
  /** Runs that found nothing new and sent nothing. */
  readonly quiet: number;
  /** Refreshes that went out with the request of another job. */
  readonly shared: number;
  /** When the last one began (epoch ms). */
  readonly lastAt: number;
}

/** The history in figures, for all jobs at once: ten thousand jobs are one look. */
export class Tallies {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** By job, over its newest `runs` runs. A run that is not settled yet counts for nothing but its beginning. */
  async all(runs: number): Promise<Map<string, Tally>> {
    const rows = await this.#ground.db
      .with('newest', (db) =>
        db
          .selectFrom('runs')
          .select(['job', 'state', 'requests', 'started_at'])
          .select(({ fn }) =>
            fn
              .agg<number>('row_number')
              .over((over) => over.partitionBy('job').orderBy('sequence', 'desc'))
              .as('nth'),
          ),
      )
      .selectFrom('newest')
      .where('nth', '<=', runs)
      .groupBy('job')
      .select(['job', ({ fn }) => fn.max('started_at').as('lastAt')])
      .select(({ fn, and, eb }) => {
        const settled = eb('state', 'not in', ['running', 'owed']);
        const counted = fn.count<number>('job');
        return [
          counted.filterWhere(and([settled, eb('requests', '>', 0)])).as('sent'),
          fn.sum<number | null>('requests').filterWhere(settled).as('requests'),
          counted.filterWhere(and([eb('state', '=', 'unchanged'), eb('requests', '=', 0)])).as('quiet'),
          counted.filterWhere(and([eb('state', '=', 'refreshed'), eb('requests', '=', 0)])).as('shared'),
        ];
      })
      .execute();
    return new Map(rows.map(({ job, requests, ...tally }) => [job, { ...tally, requests: requests ?? 0 }]));
  }
}
