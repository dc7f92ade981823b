import { countOf, countText } from '../../lib/count-text.ts';
import type { Condition, ConditionLevel } from './condition.ts';

/** Returns the distinct jobs that conditions of this level affect. */
export function affectedJobs(conditions: readonly Condition[], level: ConditionLevel): Set<string> {
  return new Set(conditions.flatMap((condition) => (condition.level === level ? condition.jobs : [])));
}

/**
 * Summarizes all conditions in one line: `All 5 jobs healthy`, `1 of 3 jobs needs attention`.
 *
 * @param names all jobs in the config, including those left out
 */
export function headlineOf(conditions: readonly Condition[], names: Iterable<string>): string {
  const jobs = new Set(names).size;
  const bad = affectedJobs(conditions, 'error').size;
  const slow = affectedJobs(conditions, 'warning').size;
  const others = conditions.filter((condition) => condition.jobs.length === 0).length;
  const more = others === 0 ? '' : `; ${countOf(others, 'other problem')}`;
  const of = (count: number): string => `${countText(count)} of ${countOf(jobs, 'job')}`;
  if (bad > 0) return `${of(bad)} ${bad === 1 ? 'needs' : 'need'} attention${more}`;
  if (slow > 0) return `${of(slow)} ${slow === 1 ? 'has a warning' : 'have warnings'}${more}`;
  return `${healthy(jobs)}${more}`;
}

function healthy(jobs: number): string {
  if (jobs === 0) return 'The config has no jobs';
  return jobs === 1 ? 'The job is healthy' : `All ${countText(jobs)} jobs healthy`;
}
