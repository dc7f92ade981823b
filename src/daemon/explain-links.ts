import { countOf } from '../lib/count-text.ts';
import type { OutboxRow, RunRow } from '../state/tables.ts';

/** One link of the chain from the dashboard back to what holds it up. Instants are epoch milliseconds. */
export interface Link {
  readonly at?: number;
  readonly says: string;
  readonly code?: string;
}

/** What keeps a payload from where it belongs. */
export function troubleOf({ last_attempt_at, owed_at, message, code }: OutboxRow, what: string): Link {
  return {
    at: last_attempt_at ?? owed_at,
    says: message === null ? what : `${what}: ${message}`,
    ...(code === null ? {} : { code }),
  };
}

/** Where a payload came from. */
export const extracted = ({ as_of, run, row_count }: OutboxRow): Link => ({
  at: as_of,
  says: `run ${run} read ${countOf(row_count, 'row')} from the source`,
});

const words: Readonly<Record<RunRow['state'], string>> = {
  running: 'is under way',
  owed: 'is done, its payload is owed',
  delivered: 'was delivered',
  unchanged: 'found what the instance shows already',
  superseded: 'gave way to newer data',
  refreshed: 'started the refresh',
  dead: 'ended with a payload that the service will not take',
  quarantined: 'ended with a payload that a guard held back',
  discarded: 'ended with a payload that a person put away',
  failed: 'failed',
  interrupted: 'was interrupted',
};

/** Runs that nobody is at any more have ended with their process, though no start has written that down yet. */
export function asTheyAre(
  runs: readonly RunRow[],
  { runningSince }: { runningSince(job: string): number | undefined },
): readonly RunRow[] {
  const problem = { code: 'RUN_INTERRUPTED', message: 'The process ended before the run did' };
  return runs.map((run) =>
    run.state === 'running' && runningSince(run.job) === undefined ? { ...run, state: 'interrupted', ...problem } : run,
  );
}

/** How a run ended. A source that said that nothing has changed gave no rows, and what is shown has some all the same. */
export function ended({ id, state, started_at, ended_at, message, code, row_count }: RunRow): Link {
  const isNone = row_count === 0 && (state === 'unchanged' || state === 'failed');
  const rows = row_count === null || isNone ? '' : ` (${countOf(row_count, 'row')})`;
  const why = message === null ? '' : `: ${message}`;
  return {
    at: ended_at ?? started_at,
    says: `run ${id} ${words[state]}${rows}${why}`,
    ...(code === null ? {} : { code }),
  };
}
