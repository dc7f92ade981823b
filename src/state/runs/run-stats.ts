import { Repository } from '../engine/context.ts';
import type { RunState } from '../tables.ts';

/** Requests beyond this multiple of the median are attributed to an outage and aren't expected in the next runs. */
const maxFactor = 2;

/** Totals over a job's latest runs. */
export interface JobRunStats {
  /**
   * Runs that sent something, and their requests, including retries. Each run counts as at most {@link maxFactor} times
   * the median.
   */
  readonly sent: number;
  readonly requests: number;
  /** Runs that found nothing new and sent nothing. */
  readonly quiet: number;
  /** Refreshes that shared the request of another job. */
  readonly shared: number;
  /** When the last run for which {@link usesTurn} is true began (epoch ms); 0 if there was none. */
  readonly lastAt: number;
}

/**
 * States of a run without data. If a throttled job's run didn't send a request either, the job's next firing replaces
 * it.
 */
const withoutData: ReadonlySet<RunState> = new Set(['failed', 'interrupted', 'retrying']);

/**
 * Whether a run uses up the one firing that its throttled job may have. A run that fails because of a source outage
 * doesn't, so that no further firings are skipped.
 */
export function usesTurn({ state, requests }: { readonly state: RunState; readonly requests: number }): boolean {
  return requests > 0 || !withoutData.has(state);
}

/** Statistics over the history of all jobs, in one query, even for ten thousand jobs. */
export class RunStats extends Repository {
  /** Statistics by job, over its newest `runs` runs. Of an unsettled run, only the start time counts. */
  async all(runs: number): Promise<Map<string, JobRunStats>> {
    const rows = await this.context.db
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

/** Runs of a job with the same state and number of requests. */
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
