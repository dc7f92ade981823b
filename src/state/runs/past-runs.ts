import type { StoreContext } from '../engine/context.ts';

/** Summary of a job's last runs. The sizes and times are medians. */
export interface PastRuns {
  readonly runs: number;
  readonly bytes: number;
  readonly rows: number;
  /** Time from the start of a run until its payload was ready, without the delivery. */
  readonly milliseconds: number;
  /** The fraction of runs that had new data, from 0 to 1. */
  readonly changed: number;
}

/** How many of each job's newest runs are summarized. */
const lookedAt = 100;

interface PastRunRow {
  readonly job: string;
  readonly state: string;
  readonly bytes: number;
  readonly rows: number;
  readonly milliseconds: number;
}

/** Returns a summary of each job's past runs, by job name. */
export async function summarizePastRuns({ db }: Pick<StoreContext, 'db'>): Promise<Map<string, PastRuns>> {
  const rows = await db
    .with('newest', (query) =>
      query
        .selectFrom('runs')
        .select(['id', 'job', 'state', 'bytes', 'row_count', 'started_at', 'ended_at'])
        .select(({ fn }) =>
          fn
            .agg<number>('row_number')
            .over((over) => over.partitionBy('job').orderBy('sequence', 'desc'))
            .as('nth'),
        )
        .where('state', 'in', ['delivered', 'unchanged', 'superseded', 'owed', 'refreshed']),
    )
    .with('ready', (query) =>
      query
        .selectFrom('outbox')
        .groupBy('run')
        .select('run')
        .select(({ fn }) => fn.min('owed_at').as('owed_at')),
    )
    .selectFrom('newest')
    .leftJoin('ready', 'ready.run', 'newest.id')
    .where('nth', '<=', lookedAt)
    .select(['job', 'state', 'bytes', 'row_count', 'started_at', 'ended_at', 'owed_at'])
    .execute();
  const runs = rows.map(({ job, state, bytes, row_count, started_at, ended_at, owed_at }): PastRunRow => {
    const milliseconds = (owed_at ?? ended_at ?? started_at) - started_at;
    return { job, state, bytes: bytes ?? 0, rows: row_count ?? 0, milliseconds };
  });
  return new Map([...Map.groupBy(runs, ({ job }) => job)].map(([job, own]) => [job, summed(own)]));
}

/** Summarizes a job's runs. Runs without new data have no size. If no run had new data, the sizes are 0. */
function summed(runs: readonly PastRunRow[]): PastRuns {
  const news = runs.filter(({ state }) => state !== 'unchanged');
  return {
    runs: runs.length,
    bytes: median(news.map(({ bytes }) => bytes)),
    rows: median(news.map(({ rows }) => rows)),
    milliseconds: median(runs.map(({ milliseconds }) => milliseconds)),
    changed: news.length / runs.length,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
