import type { Log } from '../lib/log.ts';
import { type Problem, placeOf, renderProblem } from '../lib/problem.ts';

/** Writes faults (`error`) or remarks (`warn`) of a config to the log, one line each. */
export function logProblems(log: Log, problems: readonly Problem[], level: 'error' | 'warn' = 'error'): void {
  for (const problem of problems) {
    const { code } = problem;
    const [place, text] = [placeOf(problem.where), renderProblem(problem)];
    if (level === 'error') log.error('config.fault', { code, place, fault: text });
    else log.warn('config.remark', { code, place, remark: text });
  }
}
