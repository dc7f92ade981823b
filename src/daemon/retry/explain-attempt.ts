import { countOf } from '../../lib/count-text.ts';
import type { Facts, RuleResult } from '../explain/explain-facts.ts';
import { ended } from '../explain/explain-links.ts';

/**
 * Explains a run that is being retried: when its attempts began to fail, why, and when the next attempt begins. Returns
 * undefined if no run is being retried.
 */
export function triedAgain(facts: Facts): RuleResult | undefined {
  const { attempt, runs, runningSince, conditions, daemonSince } = facts;
  // The run that waits for a retry isn't always the job's last run, because a manual `sync` may have failed since.
  const last = runs.find(({ id }) => id === attempt?.run) ?? runs[0];
  if (attempt === undefined || last === undefined || runningSince !== undefined) return undefined;
  const condition = conditions.find(({ kind }) => kind === 'failed');
  const why = last.message ?? 'its source is unavailable';
  const because = [
    {
      at: attempt.since,
      message: `run ${last.id} has failed ${countOf(attempt.attempt - 1, 'time')} since then: ${why}`,
    },
    ...runs
      .filter(({ id }) => id !== last.id)
      .slice(0, 1)
      .map(ended),
  ];
  return {
    verdict: condition === undefined ? 'waiting for its source' : 'failing',
    because,
    next: { at: attempt.at, message: daemonSince === undefined ? attempt.message : `attempt ${attempt.attempt}` },
    fix: condition?.fix,
  };
}
