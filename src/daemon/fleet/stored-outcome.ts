import { Problem, type ProblemOptions } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import type { RetryRow, RunRow } from '../../state/tables.ts';
import type { RunOutcome } from '../run/run-outcome.ts';

/** Converts an outcome to the text that a worker stores for the planner, without secrets. */
export function outcomeText({ problem, warnings: _, ...rest }: RunOutcome): string {
  const storedProblem: object =
    problem === undefined ? {} : { problem: { ...problem, cause: undefined, message: problem.message } };
  return redact(JSON.stringify({ ...rest, ...storedProblem }));
}

export function outcomeOf(text: string): RunOutcome {
  const { problem, ...rest } = JSON.parse(text) as Omit<RunOutcome, 'problem'> & { readonly problem?: ProblemOptions };
  return problem === undefined ? rest : { ...rest, problem: new Problem(problem) };
}

/** The outcome of a run that ended just before its process died. */
export function outcomeOfRow({ id: run, job, ...row }: RunRow, retry: RetryRow | undefined): RunOutcome {
  const figures = { rows: row.row_count ?? 0, bytes: row.bytes ?? 0, requests: row.requests };
  const facts = { job, run, ...figures, milliseconds: row.took_ms ?? 0 };
  if (row.state === 'retrying' && retry !== undefined)
    return { ...facts, state: 'retrying', until: retry.next_at, retry };
  const { code, message, next } = row;
  const advice = next === null ? {} : { next };
  const why =
    code === null ? {} : { problem: new Problem({ code, family: 'job', message: message ?? code, ...advice }) };
  return { ...facts, state: stateOf(row.state), ...why };
}

function stateOf(state: RunRow['state']): RunOutcome['state'] {
  if (state === 'discarded') return 'quarantined';
  return state === 'running' || state === 'retrying' || state === 'interrupted' ? 'failed' : state;
}
