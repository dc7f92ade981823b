import { Repository } from '../engine/context.ts';
import type { RunState } from '../tables.ts';
import { type PastRuns, summarizePastRuns } from './past-runs.ts';

/**
 * Upper limit for a run's requests, as a multiple of the median. Requests beyond it were probably caused by an outage
 * and aren't expected in the next runs.
 */
const maxFactor = 2;

/** Totals of a job's latest runs. */
export interface JobRunStats {
  /** Number of runs that sent data. */
  readonly sent: number;
  /**
   * Number of requests that these runs sent, including retries. Each run counts with at most {@link maxFactor} times
   * the median.
   */
  readonly requests: number;
  /** Number of runs that found no new data and therefore sent none. */
  readonly quiet: number;
  /** Number of refreshes that shared a request with another job. */
  readonly shared: number;
  /**
   * When the last run for which {@link usesTurn} returns true began, in epoch milliseconds. 0 if there was no such run.
   */
  readonly lastAt: number;
}

/**
 * States of runs that delivered no data. If the run of a throttled job is in such a state and sent no request, the
 * job's next firing may replace it.
 */
const withoutData: ReadonlySet<RunState> = new Set(['failed', 'interrupted', 'retrying']);

/**
 * Returns whether a run uses up the one firing that is allowed for its throttled job. A run that fails because its
 * source is unavailable doesn't, so that its failure doesn't cause more firings to be skipped.
 */
export function usesTurn({ state, requests }: { readonly state: RunState; readonly requests: number }): boolean {
  return requests > 0 || !withoutData.has(state);
}

/** Calculates statistics from the history. One query covers all jobs, even if there are ten thousand. */
export class RunStats extends Repository {
  /**
   * Returns statistics by job over each job's newest `runs` runs. Only the start time of a run that isn't settled is
   * used.
   */
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

  /** Returns a summary of each job's past runs, by job name. */
  past(): Promise<Map<string, PastRuns>> {
    return summarizePastRuns(this.context);
  }
}

/**
 * A run without retries, which counts like one of the job's runs. Otherwise, an outage during a job's first run would
 * be expected in all of its runs.
 */
const assumed = { requests: 1, runs: 1 };

/** A group of a job's runs that have the same state and the same number of requests. */
interface Alike {
  readonly state: RunState;
  readonly requests: number;
  readonly runs: number;
  readonly lastAt: number;
}

function jobRunStatsOf(all: readonly Alike[]): JobRunStats {
  const settled = all.filter(({ state }) => state !== 'running' && state !== 'owed');
  const sent = settled.filter(({ requests }) => requests > 0);
  const maxRequests = maxFactor * medianRequests([...sent, assumed]);
  const without = (end: RunState): number =>
    runsIn(settled.filter(({ state, requests }) => state === end && requests === 0));
  return {
    sent: runsIn(sent),
    requests: sent.reduce((sum, { requests, runs }) => sum + runs * Math.min(requests, maxRequests), 0),
    quiet: without('unchanged'),
    shared: without('refreshed'),
    lastAt: Math.max(0, ...all.filter(usesTurn).map(({ lastAt }) => lastAt)),
  };
}

const runsIn = (all: readonly Pick<Alike, 'runs'>[]): number => all.reduce((sum, { runs }) => sum + runs, 0);

/** The lower median. */
function medianRequests(sent: readonly Pick<Alike, 'requests' | 'runs'>[]): number {
  let left = runsIn(sent) / 2;
  for (const { requests, runs } of sent.toSorted((a, b) => a.requests - b.requests)) {
    left -= runs;
    if (left <= 0) return requests;
  }
  return 0;
}
