import { join } from 'node:path';
import { SqliteDatabase } from '../../lib/sqlite.ts';
import { databaseName } from '../backup/backup-files.ts';
import { hasDatabase } from '../engine/has-database.ts';

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

interface Row {
  readonly job: string;
  readonly state: string;
  readonly bytes: number;
  readonly rows: number;
  readonly milliseconds: number;
}

const newest = `
  select job, state, coalesce(bytes, 0) as bytes, coalesce(row_count, 0) as rows,
    coalesce((select min(owed_at) from outbox where outbox.run = recent.id), ended_at) - started_at as milliseconds
  from (
    select *, row_number() over (partition by job order by sequence desc) as place from runs
    where state in ('delivered', 'unchanged', 'superseded', 'owed', 'refreshed')
  ) as recent
  where place <= ?`;

/**
 * Reads a summary of each job's past runs from a state folder, by job name. Returns an empty map if the folder has no
 * state. Doesn't write, migrate or repair anything. Throws SQLite's error if the database can't be read.
 */
export function readPastRuns(folder: string): Map<string, PastRuns> {
  if (!hasDatabase(folder)) return new Map();
  const database = new SqliteDatabase(join(folder, databaseName), { readOnly: true, busyTimeoutMs: 15_000 });
  try {
    const rows = database.prepare(newest).all<Row>(lookedAt);
    return new Map([...Map.groupBy(rows, ({ job }) => job)].map(([job, runs]) => [job, summed(runs)]));
  } finally {
    database.close();
  }
}

/** Summarizes a job's runs. Runs without new data have no size. If no run had new data, the sizes are 0. */
function summed(runs: readonly Row[]): PastRuns {
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
