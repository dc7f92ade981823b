import type { Kysely } from 'kysely';
import type { RunRow, RunState, Tables } from '../tables.ts';
import { spanOf } from './past-attempts.ts';

/** A job's failures since its last success. */
export interface Streak {
  readonly job: string;
  readonly failures: number;
  /** Number of these failures that a schedule started. */
  readonly firings: number;
  /** When the first of them began. */
  readonly since: number;
  readonly last: RunRow;
}

/** States of runs that have read their source successfully. */
export const goodStates: readonly RunState[] = [
  'owed',
  'delivered',
  'unchanged',
  'superseded',
  'refreshed',
  'quarantined',
  'discarded',
];

/** Error codes of runs that were ended neither by their own failure nor by a user or a shutdown. */
const cutShort = ['RUN_INTERRUPTED', 'RUN_CANCELLED', 'RUN_BLOCKED', 'DISK_STALLED'];
/**
 * How many runs with the same one of these error codes together count as a failure. A single run doesn't count, because
 * the next run delivers its data.
 */
const toleratedCodes = new Map<string | null, number>([
  ['RUN_CANCELLED', 3],
  ['RUN_INTERRUPTED', 2],
  ['DISK_STALLED', 2],
]);

/**
 * Returns the jobs whose newest runs have failed, with the number of failures since the last success, the start of the
 * first one, and the last one. Ignores runs that were stopped, and what happened to payloads later. Runs whose process
 * was killed are repeated once at the next start. These runs, and runs that newer firings replaced, count only as
 * defined by {@link toleratedCodes}.
 */
export async function findStreaks(db: Kysely<Tables>): Promise<Streak[]> {
  const failed = await db
    .selectFrom('runs')
    .leftJoin(
      db
        .selectFrom('runs as good')
        .select(({ fn }) => ['good.job', fn.max('good.sequence').as('sequence')])
        .where('good.state', 'in', goodStates)
        .groupBy('good.job')
        .as('last_good'),
      'last_good.job',
      'runs.job',
    )
    .selectAll('runs')
    .where((where) =>
      where.or([
        where('runs.state', '=', 'failed'),
        where.and([where('runs.state', '=', 'interrupted'), where('runs.code', 'in', cutShort)]),
      ]),
    )
    .where((where) =>
      where.or([where('last_good.sequence', 'is', null), where('runs.sequence', '>', where.ref('last_good.sequence'))]),
    )
    .execute();
  failed.sort((a, b) => a.sequence - b.sequence);
  return [...Map.groupBy(failed, ({ job }) => job)].flatMap(([job, runs]) => streakOf(job, runs));
}

/** `runs` are a job's failures since its last success, oldest first. */
function streakOf(job: string, runs: readonly RunRow[]): Streak[] {
  const last = runs.at(-1);
  const byCode = [...Map.groupBy(runs, ({ code }) => code)];
  const isFailing = byCode.some(([code, same]) => same.length >= (toleratedCodes.get(code) ?? 1));
  if (last === undefined || !isFailing) return [];
  const firings = runs.filter(({ origin }) => origin === 'schedule').length;
  const since = runs.reduce((first, run) => Math.min(first, spanOf(run).started_at), last.started_at);
  return [{ job, failures: runs.length, firings, since, last }];
}
