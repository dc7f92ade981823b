import type { StoreContext } from '../engine/context.ts';
import type { RunState } from '../tables.ts';

/** Retries beyond this many times the median number of requests are those of an outage, which the next runs need not meet. */
const maxFactor = 2;

/** What a job's latest runs came to, taken together. */
export interface JobRunStats {
  /** Runs that sent something, and the requests that took, retries included: of each run up to {@link maxFactor} times the median. */
  readonly sent: number;
  readonly requests: number;
  /** Runs that found nothing new and sent nothing. */
  readonly quiet: number;
  /** Refreshes that went out with the request of another job. */
  readonly shared: number;
  /** When the last one that {@link usesTurn} began (epoch ms); 0 if there was none. */
  readonly lastAt: number;
}

/** A run that ended, or waits for another attempt, without data and without a request: a throttled job's next firing replaces it. */
const withoutData: ReadonlySet<RunState> = new Set(['failed', 'interrupted', 'retrying']);

/** Whether a run is the one that its throttled job may have for a while: an outage of its source is no reason to skip firings. */
export function usesTurn({ state, requests }: { readonly state: RunState; readonly requests: number }): boolean {
  return requests > 0 || !withoutData.has(state);
}

/** The history in figures, for all jobs at once: ten thousand jobs are one look. */
export class RunStats {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** By job, over its newest `runs` runs. A run that is not settled yet counts for nothing but its beginning. */
  async all(runs: number): Promise<Map<string, JobRunStats>> {
    const rows = await this.#context.db
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
      .groupBy(['job', 'state', 'requests'])
      .select(['job', 'state', 'requests'])
      .select(({ fn }) => [fn.count<number>('job').as('runs'), fn.max('started_at').as('lastAt')])
      .execute();
    return new Map([...Map.groupBy(rows, ({ job }) => job)].map(([job, alike]) => [job, jobRunStatsOf(alike)]));
  }
}

/** Runs of a job that ended alike and took as many requests. */
interface Alike {
  readonly state: RunState;
  readonly requests: number;
  readonly runs: number;
  readonly lastAt: number;
}

function jobRunStatsOf(all: readonly Alike[]): JobRunStats {
  const settled = all.filter(({ state }) => state !== 'running' && state !== 'owed');
  const sent = settled.filter(({ requests }) => requests > 0);
  const most = maxFactor * usualRequests(sent);
  const without = (end: RunState): number =>
    runsIn(settled.filter(({ state, requests }) => state === end && requests === 0));
  return {
    sent: runsIn(sent),
    requests: sent.reduce((sum, { requests, runs }) => sum + runs * Math.min(requests, most), 0),
    quiet: without('unchanged'),
    shared: without('refreshed'),
    lastAt: Math.max(0, ...all.filter(usesTurn).map(({ lastAt }) => lastAt)),
  };
}

const runsIn = (all: readonly Alike[]): number => all.reduce((sum, { runs }) => sum + runs, 0);

/** The lower median. */
function usualRequests(sent: readonly Alike[]): number {
  let left = runsIn(sent) / 2;
  for (const { requests, runs } of sent.toSorted((a, b) => a.requests - b.requests)) {
    left -= runs;
    if (left <= 0) return requests;
  }
  return 0;
}
