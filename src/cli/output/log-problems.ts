import type { Log } from '../../lib/log.ts';
import { type Problem, placeOf, renderProblem } from '../../lib/problem.ts';

/** Logs each error or warning of a config on its own line. */
export function logProblems(log: Log, problems: readonly Problem[], level: 'error' | 'warn' = 'error'): void {
  for (const problem of problems) {
    const { code } = problem;
    const [place, text] = [placeOf(problem.where), renderProblem(problem)];
    if (level === 'error') log.error('config.error', { code, place, message: text });
    else log.warn('config.warning', { code, place, message: text });
  }
}
